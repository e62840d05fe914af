// SPDX-License-Identifier: Apache-2.0
// Loads each library named, has it allocate, and unloads it. Usage: unloads ROUNDS LIBRARY...
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  for (int round = 0; round < atoi(argv[1]); round++) {
    for (int i = 2; i < argc; i++) {
      void *library = dlopen(argv[i], RTLD_NOW);
      void (*work)(void) = library ? (void (*)(void))dlsym(library, "work") : NULL;
      if (!work) return 1;
      work();
      if (dlclose(library) != 0) return 2;
    }
  }
  puts("done");
  return 0;
}
