// SPDX-License-Identifier: Apache-2.0
// loads_plugins FILE COUNT PLUGIN...: COUNT times loads each plug-in with a scope of its own, runs it on FILE and unloads it,
// the last time after it has been there and the program has been at work for 2.5 s.
// The program itself has no C++ library. Prints what came back, and how many libraries there are in the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int count_one(struct dl_phdr_info *info, size_t size, void *total) {
  (void)info, (void)size;
  return ++*(int *)total, 0;
}

static void work_for_a_while(void) {
  for (int i = 0; i < 25; i++) {
    free(malloc(3000));
    usleep(100000);
  }
}

int main(int count, char **arguments) {
  long sum = 0;
  for (long round = 0; round < atol(arguments[2]); round++)
    for (int i = 3; i < count; i++) {
      void *plugin = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
      long (*run)(const char *) = plugin ? (long (*)(const char *))dlsym(plugin, "plugin_run") : NULL;
      if (!run) return fprintf(stderr, "%s\n", dlerror()), 3;
      sum += run(arguments[1]);
      if (round == atol(arguments[2]) - 1) work_for_a_while();
      if (dlclose(plugin)) return 4;
    }
  int libraries = 0;
  dl_iterate_phdr(count_one, &libraries);
  printf("%ld, C++ library still there: %d\n", sum, dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD) != NULL);
  return libraries > 20;
}
