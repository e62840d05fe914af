// SPDX-License-Identifier: Apache-2.0
// libc's walks through trees of folders (ftw, nftw, fts) may change the working directory, also while they call the
// program back: relative paths must then not be resolved against the earlier directory. Reads inside libc leave no
// record, so walks are counted. They are counted before they begin, because the program may jump out of them.
#include <fts.h>
#include <ftw.h>

#include "preload/base/old_version.h"
#include "preload/base/real_function.h"
#include "preload/calls/working_directory.h"
#include "preload/core/recorder.h"

typedef int (*ftw_function)(const char *, __ftw_func_t, int);
typedef int (*ftw64_function)(const char *, __ftw64_func_t, int);
typedef int (*nftw_function)(const char *, __nftw_func_t, int, int);
typedef int (*nftw64_function)(const char *, __nftw64_func_t, int, int);

static void count_walk(void) {
  if (files_on && stamp()) count_failure(MLRUN_FAIL_WALKS);
}

EXPORT int ftw(const char *path, __ftw_func_t visit, int descriptors) {
  static ftw_function real;
  if (unlikely(!real)) real = (ftw_function)next_symbol("ftw");
  count_walk();
  return real(path, visit, descriptors);
}

EXPORT int ftw64(const char *path, __ftw64_func_t visit, int descriptors) {
  static ftw64_function real;
  if (unlikely(!real)) real = (ftw64_function)next_symbol("ftw64");
  count_walk();
  return real(path, visit, descriptors);
}

EXPORT int nftw(const char *path, __nftw_func_t visit, int descriptors, int flags) {
  static nftw_function real;
  if (unlikely(!real)) real = (nftw_function)next_symbol("nftw");
  count_walk();
  working_directory_changes(flags & FTW_CHDIR);
  int result = real(path, visit, descriptors, flags);
  working_directory_settles(flags & FTW_CHDIR);
  return result;
}

EXPORT int nftw64(const char *path, __nftw64_func_t visit, int descriptors, int flags) {
  static nftw64_function real;
  if (unlikely(!real)) real = (nftw64_function)next_symbol("nftw64");
  count_walk();
  working_directory_changes(flags & FTW_CHDIR);
  int result = real(path, visit, descriptors, flags);
  working_directory_settles(flags & FTW_CHDIR);
  return result;
}

// Before glibc 2.3.3 nftw ignored unknown flags
OLD_VERSION(int, nftw, "GLIBC_2.2.5", (const char *path, __nftw_func_t visit, int descriptors, int flags)) {
  REAL_OLD(int, nftw, "GLIBC_2.2.5", const char *, __nftw_func_t, int, int);
  count_walk();
  working_directory_changes(flags & FTW_CHDIR);
  int result = real(path, visit, descriptors, flags);
  working_directory_settles(flags & FTW_CHDIR);
  return result;
}

OLD_VERSION(int, nftw64, "GLIBC_2.2.5", (const char *path, __nftw64_func_t visit, int descriptors, int flags)) {
  REAL_OLD(int, nftw64, "GLIBC_2.2.5", const char *, __nftw64_func_t, int, int);
  count_walk();
  working_directory_changes(flags & FTW_CHDIR);
  int result = real(path, visit, descriptors, flags);
  working_directory_settles(flags & FTW_CHDIR);
  return result;
}

#define WALK_HOOK(ret, symbol_name, begins, parameters, arguments, ...) \
  EXPORT ret symbol_name parameters {                                   \
    REAL(ret, symbol_name, __VA_ARGS__);                                \
    if (begins) count_walk();                                           \
    ret result = real arguments;                                        \
    forget_working_directory();                                         \
    return result;                                                      \
  }
WALK_HOOK(FTS *, fts_open, true, (char *const *paths, int options, int (*compare)(const FTSENT **, const FTSENT **)),
          (paths, options, compare), char *const *, int, int (*)(const FTSENT **, const FTSENT **))
WALK_HOOK(FTSENT *, fts_read, false, (FTS * walk), (walk), FTS *)
WALK_HOOK(FTSENT *, fts_children, false, (FTS * walk, int options), (walk, options), FTS *, int)
WALK_HOOK(int, fts_close, false, (FTS * walk), (walk), FTS *)
WALK_HOOK(FTS64 *, fts64_open, true,
          (char *const *paths, int options, int (*compare)(const FTSENT64 **, const FTSENT64 **)),
          (paths, options, compare), char *const *, int, int (*)(const FTSENT64 **, const FTSENT64 **))
WALK_HOOK(FTSENT64 *, fts64_read, false, (FTS64 * walk), (walk), FTS64 *)
WALK_HOOK(FTSENT64 *, fts64_children, false, (FTS64 * walk, int options), (walk, options), FTS64 *, int)
WALK_HOOK(int, fts64_close, false, (FTS64 * walk), (walk), FTS64 *)
