// SPDX-License-Identifier: Apache-2.0
// Loads a library and has it allocate. Usage: calls_library TIMES LIBRARY
#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
  void (*work)(void) = library ? (void (*)(void))dlsym(library, "work") : NULL;
  if (!work) return 1;
  for (int i = 0; i < atoi(argv[1]); i++) work();
  return 0;
}
