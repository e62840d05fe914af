// SPDX-License-Identifier: Apache-2.0
// Lookups in the dynamic linker that bypass our hooks: libraries that search libc before the program's global scope
// (RTLD_DEEPBIND), or have a libc of their own (dlmopen), and functions of libc looked up by libc's own handle (ctypes,
// cffi, JNA). Their calls are not seen. The number of such lookups is counted.
//
// dlopen, dlmopen and dlsym depend on their caller's address. So these hooks only note the arguments and jump on, with
// the caller's return address in place: the program gets the same result as without us.
#include <dlfcn.h>

#include "preload/base/real_function.h"
#include "preload/core/recorder.h"

// Saves the arguments, has `note` read them and return the real function, and jumps there.
#define JUMPS_ON(name, note)                  \
  __asm__(                                    \
      ".pushsection .text\n"                  \
      ".globl " #name                         \
      "\n"                                    \
      ".type " #name ", @function\n" #name    \
      ":\n"                                   \
      ".cfi_startproc\n"                      \
      "endbr64\n"                             \
      "push %rdi\n.cfi_adjust_cfa_offset 8\n" \
      "push %rsi\n.cfi_adjust_cfa_offset 8\n" \
      "push %rdx\n.cfi_adjust_cfa_offset 8\n" \
      "call " #note                           \
      "\n"                                    \
      "pop %rdx\n.cfi_adjust_cfa_offset -8\n" \
      "pop %rsi\n.cfi_adjust_cfa_offset -8\n" \
      "pop %rdi\n.cfi_adjust_cfa_offset -8\n" \
      "test %rax, %rax\n"                     \
      "jz 1f\n"                               \
      "jmp *%rax\n"                           \
      "1: ret\n"                              \
      ".cfi_endproc\n"                        \
      ".size " #name ", . - " #name           \
      "\n"                                    \
      ".popsection\n")

#define NOTE __attribute__((used, visibility("hidden")))

static void count(enum mlrun_failure what) {
  if (stamp()) count_failure(what);
}

NOTE symbol note_dlopen(const char *file, int mode) {
  REAL(void *, dlopen, const char *, int);
  if (unlikely(file && mode & RTLD_DEEPBIND && !(mode & RTLD_NOLOAD))) count(MLRUN_FAIL_BOUND_DEEP);
  return (symbol)real;
}

NOTE symbol note_dlmopen(long space, const char *file, int mode) {
  REAL(void *, dlmopen, long, const char *, int);
  if (file && !(mode & RTLD_NOLOAD) && (space != LM_ID_BASE || mode & RTLD_DEEPBIND)) count(MLRUN_FAIL_BOUND_DEEP);
  return (symbol)real;
}

NOTE symbol note_dlsym(void *handle, const char *name) {
  REAL(void *, dlsym, void *, const char *);
  if (unlikely(name && is_libc_object(handle)) && is_own_function(name)) count(MLRUN_FAIL_BY_HANDLE);
  return (symbol)real;
}

NOTE symbol note_dlvsym(void *handle, const char *name) {
  REAL(void *, dlvsym, void *, const char *, const char *);
  if (unlikely(name && is_libc_object(handle)) && is_own_function(name)) count(MLRUN_FAIL_BY_HANDLE);
  return (symbol)real;
}

JUMPS_ON(dlopen, note_dlopen);
JUMPS_ON(dlmopen, note_dlmopen);
JUMPS_ON(dlsym, note_dlsym);
JUMPS_ON(dlvsym, note_dlvsym);
