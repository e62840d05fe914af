// SPDX-License-Identifier: Apache-2.0
// The function behind a hook, looked up at the first call: REAL(int, close, int) declares `real`.
#pragma once

#include <errno.h>

#include "preload/base/compiler.h"
#include "preload/base/next_symbol.h"

#define REAL(ret, symbol_name, ...) \
  static ret (*real)(__VA_ARGS__);  \
  if (unlikely(!real)) real = (ret(*)(__VA_ARGS__))next_symbol(#symbol_name)

// libc's function for this library's own use, as libc_NAME: never the program's own of that name.
#define LIBC(ret, symbol_name, ...)              \
  static ret (*libc_##symbol_name)(__VA_ARGS__); \
  if (unlikely(!libc_##symbol_name)) libc_##symbol_name = (ret(*)(__VA_ARGS__))libc_symbol(#symbol_name)

// For a hook of a function that this libc does not have yet. A program can have found the hook only by dlsym.
static inline long missing_function(void) {
  errno = ENOSYS;
  return -1;
}
