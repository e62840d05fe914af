// SPDX-License-Identifier: Apache-2.0
// The bodies of wrappers, by the form that a capture (capture.h) begins with: TRACE(kind, type of the result, the real
// call, capture) declares the pending call, makes the real one and returns its result. Files that include this define
// TRACE_FLAGS, the flags of their records.
#pragma once

#include "preload/calls/capture.h"
#include "preload/calls/copy_call.h"
#include "preload/calls/descriptor_call.h"
#include "preload/calls/io_vector.h"
#include "preload/calls/map_call.h"
#include "preload/calls/message_call.h"
#include "preload/calls/path_call.h"
#include "preload/calls/socket_call.h"
#include "preload/calls/traced_call.h"
#include "preload/calls/wait_call.h"
#include "preload/calls/working_directory.h"
#include "preload/core/program_memory.h"
#include "preload/record/child_end.h"

#define PENDING(kind_, ...) struct pending_call call CALL_CLEANUP = {.kind = (kind_), .flags = TRACE_FLAGS, __VA_ARGS__}

#define TRACE_DESCRIPTOR(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                        \
  begin_call(&call);                                 \
  ret result = expression;                           \
  end_call(&call, (int64_t)result);                  \
  return result;

// The call may unmap memory that another thread has just passed to a call of its own (program_memory.h).
#define TRACE_UNMAP(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                   \
  begin_memory_change();                        \
  begin_call(&call);                            \
  ret result = expression;                      \
  end_memory_change();                          \
  end_call(&call, (int64_t)result);             \
  return result;

#define TRACE_ERROR_DESCRIPTOR(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                              \
  begin_call(&call);                                       \
  ret result = expression;                                 \
  end_error_call(&call, result);                           \
  return result;

#define TRACE_VECTOR(kind, ret, expression, vector, count, ...) \
  PENDING(kind, __VA_ARGS__);                                   \
  begin_call(&call);                                            \
  uint64_t watch = memory_watch();                              \
  ret result = expression;                                      \
  end_vector_call(&call, vector, count, watch, result);         \
  return result;

#define TRACE_THREAD_WAIT(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                         \
  begin_plain_call(&call);                            \
  ret result = expression;                            \
  end_error_wait(&call, error_of_thread(result));     \
  return result;

#define TRACE_COUNTED_WAIT(kind, ret, expression, ...)                       \
  PENDING(kind, __VA_ARGS__);                                                \
  begin_counted_wait(&call);                                                 \
  ret result = expression;                                                   \
  end_counted_wait(&call, result == -1 ? -(int64_t)errno : (int64_t)result); \
  return result;

#define TRACE_ERROR_COUNTED_WAIT(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                                \
  begin_counted_wait(&call);                                 \
  ret result = expression;                                   \
  end_counted_wait(&call, -(int64_t)result);                 \
  return result;

#define TRACE_THREAD_COUNTED_WAIT(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                                 \
  begin_counted_wait(&call);                                  \
  ret result = expression;                                    \
  end_counted_wait(&call, -(int64_t)error_of_thread(result)); \
  return result;

#define TRACE_ERROR_JOIN(kind, ret, expression, thread, ...) \
  PENDING(kind, __VA_ARGS__);                                \
  begin_join(&call, thread);                                 \
  ret result = expression;                                   \
  end_error_wait(&call, result);                             \
  return result;

#define TRACE_THREAD_JOIN(kind, ret, expression, thread, ...) \
  PENDING(kind, __VA_ARGS__);                                 \
  begin_join(&call, thread);                                  \
  ret result = expression;                                    \
  end_error_wait(&call, error_of_thread(result));             \
  return result;

#define TRACE_POLL(kind, ret, expression, set, count, ...) \
  PENDING(kind, __VA_ARGS__);                              \
  begin_plain_call(&call);                                 \
  ret result = expression;                                 \
  end_poll(&call, set, (nfds_t)(count), (int64_t)result);  \
  return result;

// The descriptor's table entry is cleared before the real close: afterwards another thread may get the same descriptor.
#define TRACE_CLOSE(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                   \
  begin_call(&call);                            \
  fd_set_open_file(call.fd, 0);                 \
  ret result = expression;                      \
  end_call(&call, result);                      \
  return result;

// The record's descriptor is the first of the range, which need not be open.
#define TRACE_RANGE(kind, ret, expression, first, last, options, ...)                  \
  PENDING(kind, __VA_ARGS__);                                                          \
  begin_plain_call(&call);                                                             \
  if (!((unsigned)(options)&CLOSE_RANGE_CLOEXEC_FLAG)) fd_forget_range(first, last);   \
  ret result = expression;                                                             \
  if (result == 0 && (unsigned)(options)&CLOSE_RANGE_UNSHARE_FLAG) fd_table_divides(); \
  end_call(&call, result);                                                             \
  return result;

#define TRACE_MAKE(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                  \
  begin_plain_call(&call);                     \
  ret result = expression;                     \
  end_making_call(&call, (int)result);         \
  return result;

#define TRACE_ACCEPT(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                    \
  begin_plain_call(&call);                       \
  ret result = expression;                       \
  end_accept(&call, (int)result);                \
  return result;

#define TRACE_CONNECT(kind, ret, expression, address, bytes, ...) \
  PENDING(kind, __VA_ARGS__);                                     \
  begin_call(&call);                                              \
  ret result = expression;                                        \
  end_connect(&call, address, (size_t)(bytes), (int)result);      \
  return result;

#define TRACE_PAIR(kind, ret, expression, descriptors, options, ...)             \
  PENDING(kind, __VA_ARGS__);                                                    \
  begin_plain_call(&call);                                                       \
  uint64_t watch = memory_watch();                                               \
  ret result = expression;                                                       \
  end_program_pair(&call, descriptors, watch, (uint32_t)(options), (int)result); \
  return result;

#define TRACE_SOCKET_PAIR(kind, ret, expression, descriptors, options, ...)     \
  PENDING(kind, __VA_ARGS__);                                                   \
  begin_plain_call(&call);                                                      \
  uint64_t watch = memory_watch();                                              \
  ret result = expression;                                                      \
  end_socket_pair(&call, descriptors, watch, (uint32_t)(options), (int)result); \
  return result;

#define TRACE_DUPLICATE(kind, ret, expression, fresh, ...) \
  PENDING(kind, __VA_ARGS__);                              \
  begin_call(&call);                                       \
  ret result = expression;                                 \
  end_duplicating_call(&call, fresh, (int)result);         \
  return result;

#define TRACE_CONTROL(kind, ret, expression, command, ...) \
  PENDING(kind, __VA_ARGS__);                              \
  begin_call(&call);                                       \
  ret result = expression;                                 \
  end_fcntl(&call, command, (int)result);                  \
  return result;

#define TRACE_COPY(kind_, ret, expression, at, second_at, ...)                                              \
  struct copy_call copy COPY_CALL_CLEANUP = {.call.kind = (kind_), .call.flags = TRACE_FLAGS, __VA_ARGS__}; \
  begin_copy_call(&copy);                                                                                   \
  ret result = expression;                                                                                  \
  end_copy_call(&copy, at, second_at, result);                                                              \
  return result;

#define TRACE_MAP(kind_, ret, expression, ...)                                                           \
  struct map_call map MAP_CALL_CLEANUP = {.call.kind = (kind_), .call.flags = TRACE_FLAGS, __VA_ARGS__}; \
  begin_memory_change();                                                                                 \
  begin_call(&map.call);                                                                                 \
  ret result = expression;                                                                               \
  end_memory_change();                                                                                   \
  end_map_call(&map, (int64_t)result);                                                                   \
  return result;

#define TRACE_WAIT(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                  \
  begin_plain_call(&call);                     \
  ret result = expression;                     \
  end_wait(&call, (int64_t)result);            \
  return result;

#define TRACE_ERROR_WAIT(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                        \
  begin_plain_call(&call);                           \
  ret result = expression;                           \
  end_error_wait(&call, result);                     \
  return result;

// Gets the status even if the program does not ask for it.
#define TRACE_CHILD(kind, ret, expression, type, put, at, ...) \
  PENDING(kind, __VA_ARGS__);                                  \
  type instead;                                                \
  begin_plain_call(&call);                                     \
  if (!(at)) (at) = (__typeof__(at))(uintptr_t)&instead;       \
  ret result = expression;                                     \
  end_wait(&call, (int64_t)result);                            \
  put((int64_t)result, (const type *)(uintptr_t)(at));         \
  return result;
#define TRACE_REAP(kind, ret, expression, at, ...) \
  TRACE_CHILD(kind, ret, expression, int, put_child_end, at, __VA_ARGS__)
#define TRACE_REAP_INFO(kind, ret, expression, at, ...) \
  TRACE_CHILD(kind, ret, expression, siginfo_t, put_child_end_info, at, __VA_ARGS__)

#define TRACE_PATH(kind_, ret, expression, ...)                                                                  \
  struct path_call path_call PATH_CALL_CLEANUP = {.call.kind = (kind_), .call.flags = TRACE_FLAGS, __VA_ARGS__}; \
  begin_path_call(&path_call);                                                                                   \
  ret result = expression;                                                                                       \
  end_path_call(&path_call, result);                                                                             \
  return result;

#define TRACE_RENAME(kind_, ret, expression, ...)                                                                \
  struct path_call path_call PATH_CALL_CLEANUP = {.call.kind = (kind_), .call.flags = TRACE_FLAGS, __VA_ARGS__}; \
  begin_path_call(&path_call);                                                                                   \
  ret result = expression;                                                                                       \
  if (result == 0) folders_may_have_moved();                                                                     \
  end_path_call(&path_call, result);                                                                             \
  return result;

#define TRACE_MOVE(kind_, ret, expression, ...)                                                                       \
  struct move_call move MOVE_CALL_CLEANUP = {.path.call.kind = (kind_), .path.call.flags = TRACE_FLAGS, __VA_ARGS__}; \
  begin_move_call(&move);                                                                                             \
  ret result = expression;                                                                                            \
  end_move_call(&move, (int)result);                                                                                  \
  return result;

#define TRACE_MOVE_FD(kind, ret, expression, ...) \
  PENDING(kind, __VA_ARGS__);                     \
  begin_call(&call);                              \
  ret result = expression;                        \
  if (result == 0) forget_working_directory();    \
  end_call(&call, result);                        \
  return result;

#define TRACE_MESSAGE(kind, ret, expression, end_form, message, ...) \
  PENDING(kind, __VA_ARGS__);                                        \
  begin_call(&call);                                                 \
  uint64_t watch = memory_watch();                                   \
  ret result = expression;                                           \
  end_form(&call, message, watch, result);                           \
  return result;

// Opens a file without naming it.
#define TRACE_UNNAMED(kind_, ret, expression, ...)                                                               \
  struct path_call path_call PATH_CALL_CLEANUP = {.call.kind = (kind_), .call.flags = TRACE_FLAGS, __VA_ARGS__}; \
  begin_path_call(&path_call);                                                                                   \
  ret result = expression;                                                                                       \
  end_unnamed_open(&path_call, (int)result);                                                                     \
  return result;

#define TRACE_AS(form, kind, ret, expression, ...) TRACE_##form(kind, ret, expression, __VA_ARGS__)
#define TRACE(kind, ret, expression, form, ...)    TRACE_AS(form, kind, ret, expression, __VA_ARGS__)
