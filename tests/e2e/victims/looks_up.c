// SPDX-License-Identifier: Apache-2.0
// looks_up LIBRARY: prints what dlopen, dlmopen, dlsym and dlvsym find where the result depends on the caller: the next
// definition after this program, libraries by this program's RUNPATH, errors. Binds LIBRARY deep, and loads it into a
// namespace of its own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int own_function(void) { return 1; }

static const char *owner(const void *address) {
  Dl_info info;
  if (!address || !dladdr(address, &info)) return "nothing";
  const char *name = strrchr(info.dli_fname, '/');
  return name ? name + 1 : info.dli_fname;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  void *libc = dlopen("libc.so.6", RTLD_NOW);
  printf("%s %s\n", owner(dlsym(libc, "read")), owner(dlvsym(libc, "write", "GLIBC_2.2.5")));
  printf("%s %s\n", owner(dlsym(libc, "strlen")), owner(dlsym(RTLD_NEXT, "own_function")));
  printf("%s %d\n", owner(dlsym(RTLD_DEFAULT, "own_function")), dlopen(NULL, RTLD_NOW) != NULL);
  void *missing = dlopen("./no_such_library.so", RTLD_NOW);
  const char *error = dlerror();
  printf("%d %s\n", missing != NULL, error ? error : "no error");
  void *plugin = dlopen("unloaded_two.so", RTLD_NOW);
  printf("by RUNPATH: %d\n", plugin != NULL);
  printf("deep: %d\n", dlopen(arguments[1], RTLD_NOW | RTLD_DEEPBIND) != NULL);
  printf("apart: %d\n", dlmopen(LM_ID_NEWLM, arguments[1], RTLD_NOW) != NULL);
  errno = 77;
  dlsym(libc, "open");
  printf("errno %d\n", errno);
  return 0;
}
