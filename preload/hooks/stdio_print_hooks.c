// SPDX-License-Identifier: Apache-2.0
// The printf family on streams and on descriptors: all call libc's own v forms, which do the same. One record per flush
// of a stream (stream_call.h), one per call on a descriptor.
#include <stdarg.h>

#include "preload/base/real_function.h"
#include "preload/calls/stream_call.h"

static void end_print(struct stream_call *call, int result) {
  end_stream_write(call, result > 0 ? (size_t)result : 0, result >= 0);
}

static int print(FILE *stream, const char *format, va_list list) {
  REAL(int, vfprintf, FILE *, const char *, va_list);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fprintf, kLockStream);
  int result = real(stream, format, list);
  end_print(&call, result);
  return result;
}

// flag: the checks of _FORTIFY_SOURCE.
static int print_checked(FILE *stream, int flag, const char *format, va_list list) {
  REAL(int, __vfprintf_chk, FILE *, int, const char *, va_list);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fprintf, kLockStream);
  int result = real(stream, flag, format, list);
  end_print(&call, result);
  return result;
}

EXPORT int vfprintf(FILE *stream, const char *format, va_list list) { return print(stream, format, list); }

EXPORT int vprintf(const char *format, va_list list) { return print(stdout, format, list); }

EXPORT int fprintf(FILE *stream, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = print(stream, format, list);
  va_end(list);
  return result;
}

EXPORT int printf(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = print(stdout, format, list);
  va_end(list);
  return result;
}

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list);
EXPORT int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list) {
  return print_checked(stream, flag, format, list);
}

int __vprintf_chk(int flag, const char *format, va_list list);
EXPORT int __vprintf_chk(int flag, const char *format, va_list list) {
  return print_checked(stdout, flag, format, list);
}

int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
EXPORT int __fprintf_chk(FILE *stream, int flag, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = print_checked(stream, flag, format, list);
  va_end(list);
  return result;
}

int __printf_chk(int flag, const char *format, ...);
EXPORT int __printf_chk(int flag, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = print_checked(stdout, flag, format, list);
  va_end(list);
  return result;
}

static void end_descriptor_print(struct pending_call *call, int result) {
  call->requested = result > 0 ? (uint64_t)result : 0;
  end_call(call, result < 0 ? -1 : result);
}

static int print_to_descriptor(int fd, const char *format, va_list list) {
  REAL(int, vdprintf, int, const char *, va_list);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_dprintf, .fd = fd, .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  int result = real(fd, format, list);
  end_descriptor_print(&call, result);
  return result;
}

static int print_to_descriptor_checked(int fd, int flag, const char *format, va_list list) {
  REAL(int, __vdprintf_chk, int, int, const char *, va_list);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_dprintf, .fd = fd, .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  int result = real(fd, flag, format, list);
  end_descriptor_print(&call, result);
  return result;
}

EXPORT int vdprintf(int fd, const char *format, va_list list) { return print_to_descriptor(fd, format, list); }

EXPORT int dprintf(int fd, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = print_to_descriptor(fd, format, list);
  va_end(list);
  return result;
}

int __vdprintf_chk(int fd, int flag, const char *format, va_list list);
EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list list) {
  return print_to_descriptor_checked(fd, flag, format, list);
}

int __dprintf_chk(int fd, int flag, const char *format, ...);
EXPORT int __dprintf_chk(int fd, int flag, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = print_to_descriptor_checked(fd, flag, format, list);
  va_end(list);
  return result;
}
