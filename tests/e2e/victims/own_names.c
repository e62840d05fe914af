// SPDX-License-Identifier: Apache-2.0
// A library that has names of libc's of its own, which end the program wherever they are called from, and variables of such names.
#include <sys/syscall.h>
#include <unistd.h>

#define OWN(name)                                     \
  void own_##name(void) __asm__(#name);               \
  void own_##name(void) {                             \
    static const char said[] = #name " was called\n"; \
    syscall(SYS_write, 2, said, sizeof said - 1);     \
    syscall(SYS_exit_group, 99);                      \
  }
#define OWN_VARIABLE(name)                      \
  extern void *own_##name[4096] __asm__(#name); \
  __attribute__((visibility("default"))) void *own_##name[4096]

OWN(__libc_malloc)
OWN(clock_gettime)
OWN(dirfd)
OWN(flockfile)
OWN(funlockfile)
OWN(getauxval)
OWN(getenv)
OWN(memcpy)
OWN(strlen)
OWN(__errno_location)
OWN(_IO_list_lock)
OWN(_IO_list_unlock)
OWN_VARIABLE(_IO_list_all);
OWN_VARIABLE(environ);
