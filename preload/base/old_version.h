// SPDX-License-Identifier: Apache-2.0
// Functions of which libc keeps a second version with other behaviour for old programs: each version has its wrapper.
// The dynamic linker binds a program to the version that it was linked with, because exports.map gives ours the same
// versions. Programs that ask for a version that exports.map lacks would bypass the hook.
//
//   OLD_VERSION(char *, realpath, "GLIBC_2.2.5", (const char *path, char *resolved)) {
//     REAL_OLD(char *, realpath, "GLIBC_2.2.5", const char *, char *);
#pragma once

#include "preload/base/real_function.h"

// Begins the definition of the wrapper `function`, whose own name is not exported if it begins with mlrun_old_.
#define VERSION_AS(function, ret, symbol_name, version, parameters) \
  __asm__(".symver " #function ", " #symbol_name "@" version);      \
  EXPORT ret function parameters;                                   \
  EXPORT ret function parameters
#define OLD_VERSION(ret, symbol_name, version, parameters) \
  VERSION_AS(mlrun_old_##symbol_name, ret, symbol_name, version, parameters)

// Declares `real`, as REAL does, for the function of that version.
#define REAL_OLD(ret, symbol_name, version, ...) \
  static ret (*real)(__VA_ARGS__);               \
  if (unlikely(!real)) real = (ret(*)(__VA_ARGS__))next_version(#symbol_name, version)
