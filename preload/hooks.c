// SPDX-License-Identifier: Apache-2.0
// The plain wrappers: one per FUNCTION and VARIANT line of the hook table. The form that a line's capture begins with
// (capture.h) chooses one of the bodies below.
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/capture.h"
#include "preload/io_vector.h"
#include "preload/path_call.h"
#include "preload/real_function.h"
#include "preload/traced_call.h"

static void end_vector_call(struct pending_call *call, const struct iovec *vector, int count, int64_t result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  call->requested = io_vector_bytes(vector, count, result);
  put_call(call, end, result == -1 ? -(int64_t)errno : result, 0);
}

#define TRACE_DESCRIPTOR(kind_, ret, expression, ...)                     \
  struct pending_call call CALL_CLEANUP = {.kind = (kind_), __VA_ARGS__}; \
  begin_call(&call);                                                      \
  ret result = expression;                                                \
  end_call(&call, (int64_t)result);                                       \
  return result;

#define TRACE_VECTOR(kind_, ret, expression, vector, count, ...)          \
  struct pending_call call CALL_CLEANUP = {.kind = (kind_), __VA_ARGS__}; \
  begin_call(&call);                                                      \
  ret result = expression;                                                \
  end_vector_call(&call, vector, count, result);                          \
  return result;

// The entry goes first: once the descriptor is closed another thread may get it.
#define TRACE_CLOSE(kind_, ret, expression, ...)                          \
  struct pending_call call CALL_CLEANUP = {.kind = (kind_), __VA_ARGS__}; \
  begin_call(&call);                                                      \
  fd_set_open_file(call.fd, 0);                                           \
  ret result = expression;                                                \
  end_call(&call, result);                                                \
  return result;

#define TRACE_PATH(kind_, ret, expression, ...)                                       \
  struct path_call path_call PATH_CALL_CLEANUP = {.call.kind = (kind_), __VA_ARGS__}; \
  begin_path_call(&path_call);                                                        \
  ret result = expression;                                                            \
  end_path_call(&path_call, result);                                                  \
  return result;

#define TRACE_AS(form, kind, ret, expression, ...) TRACE_##form(kind, ret, expression, __VA_ARGS__)
#define TRACE(kind, ret, expression, form, ...)    TRACE_AS(form, kind, ret, expression, __VA_ARGS__)

#define HOOK(kind, symbol_name, ret, parameters, arguments, ...)              \
  EXPORT ret symbol_name parameters {                                         \
    static ret(*real) parameters;                                             \
    if (unlikely(!real)) real = (ret(*) parameters)next_symbol(#symbol_name); \
    if (unlikely(!real)) return (ret)missing_function();                      \
    TRACE(kind, ret, real arguments, __VA_ARGS__)                             \
  }
#define FUNCTION(number, name, class, ret, parameters, arguments, capture) \
  HOOK(KIND_##name, name, ret, parameters, arguments, capture)
#define VARIANT(name, symbol_name, ret, parameters, arguments, capture) \
  HOOK(KIND_##name, symbol_name, ret, parameters, arguments, capture)
#include "runner/events/hooks.def"
