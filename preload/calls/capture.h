// SPDX-License-Identifier: Apache-2.0
// The captures of the hook table. Each expands to the form of the call (trace_forms.h) and the fields of its record that
// the arguments fill.
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "runner/events/record.h"
#include "runner/events/remap.h"

#define PAIR(low, high) ((uint32_t)(low) | (uint64_t)(uint32_t)(high) << 32)

// Calls on a descriptor
#define ON_FD(descriptor, number, other) \
  DESCRIPTOR, .fd = (descriptor), .requested = (uint64_t)(number), .offset = MLRUN_NO_OFFSET, .arg2 = (uint64_t)(other)
#define IO_WORDS(bytes)               .requested = (bytes), .offset = MLRUN_NO_OFFSET
#define IO(descriptor, buffer, bytes) ON_FD(descriptor, bytes, (uintptr_t)(buffer))
#define IO_AT(descriptor, buffer, bytes, position) \
  DESCRIPTOR, .fd = (descriptor), .requested = (bytes), .offset = (uint64_t)(position), .arg2 = (uintptr_t)(buffer)
#define IO_VECTOR(descriptor, vector, count) VECTOR, vector, count, .fd = (descriptor), .offset = MLRUN_NO_OFFSET
#define IO_VECTOR_AT(descriptor, vector, count, position, flags) \
  VECTOR, vector, count, .fd = (descriptor), .offset = (uint64_t)(position), .arg2 = (uint32_t)(flags)
#define CLOSED(descriptor) CLOSE, .fd = (descriptor), .offset = MLRUN_NO_OFFSET
#define MAPPED(address, descriptor, bytes, position, protection, map_flags)                    \
  MAP, .call.fd = (map_flags)&MAP_ANONYMOUS ? -1 : (descriptor), .call.requested = (bytes),    \
       .call.offset = (map_flags)&MAP_ANONYMOUS ? MLRUN_NO_OFFSET : (uint64_t)(position),      \
       .call.arg2 = PAIR(protection, map_flags), .asks = true, .wanted = (uintptr_t)(address), \
       .before = (uintptr_t)__builtin_return_address(0)
#define UNMAPPED(address, bytes) \
  UNMAP, .fd = -1, .requested = (uint64_t)(bytes), .offset = MLRUN_NO_OFFSET, .arg2 = (uintptr_t)(address)
#define REMAPPED(old, old_bytes, bytes, map_flags, address)                                                     \
  MAP, .call.fd = -1, .call.requested = (bytes), .call.offset = MLRUN_NO_OFFSET, .call.arg2 = (uintptr_t)(old), \
       .asks = true, .wanted = (map_flags)&MREMAP_FIXED ? (uintptr_t)(address) : 0,                             \
       .before = (uint64_t)(old_bytes) | (uint64_t)(uint32_t)(map_flags) << MLRUN_REMAP_FLAGS_SHIFT
#define PROTECTS(address, bytes, protection) \
  UNMAP, .fd = -1, .requested = (uint64_t)(bytes), .offset = (uint32_t)(protection), .arg2 = (uintptr_t)(address)

// ERROR_OF(capture): for a function that returns the error number instead of setting errno.
#define ERROR_OF(...)         ERROR_FORM(__VA_ARGS__)
#define ERROR_FORM(form, ...) ERROR_##form, __VA_ARGS__

// THREAD_RESULT_OF(capture): for a function of <threads.h>, which returns thrd_success, thrd_busy and so on.
#define THREAD_RESULT_OF(...)         THREAD_RESULT_FORM(__VA_ARGS__)
#define THREAD_RESULT_FORM(form, ...) THREAD_##form, __VA_ARGS__

#define ON_RANGE(descriptor, bytes, position, other)                                              \
  DESCRIPTOR, .fd = (descriptor), .requested = (uint64_t)(bytes), .offset = (uint64_t)(position), \
              .arg2 = (uint32_t)(other)
// Calls on memory by address, with flags or advice
#define ON_MEMORY(address, bytes, number) \
  DESCRIPTOR, .fd = -1, .requested = (uint64_t)(bytes), .offset = (uint32_t)(number), .arg2 = (uint64_t)(address)
#define CLOSES_RANGE(first, last, flags)                                                         \
  RANGE, first, last, flags, .fd = (int)(first), .requested = (last), .offset = MLRUN_NO_OFFSET, \
                             .arg2 = (uint32_t)(flags)

// Calls that make descriptors
#define MAKES(number, other) \
  MAKE, .fd = -1, .requested = (uint64_t)(number), .offset = MLRUN_NO_OFFSET, .arg2 = (uint64_t)(other)
#define ACCEPTS(number, other) \
  ACCEPT, .fd = -1, .requested = (uint64_t)(number), .offset = MLRUN_NO_OFFSET, .arg2 = (uint64_t)(other)
#define CONNECTS(descriptor, address, bytes) CONNECT, address, bytes, .fd = (descriptor), .offset = MLRUN_NO_OFFSET
// The parameter's type is a union of pointers.
#define SOCKET_ADDRESS(address) ((address).__sockaddr__)
#define PAIRS(descriptors, number, flags) \
  PAIR, descriptors, flags, .fd = -1, .requested = (uint64_t)(number), .offset = MLRUN_NO_OFFSET
#define PAIRS_SOCKETS(descriptors, number, flags) \
  SOCKET_PAIR, descriptors, flags, .fd = -1, .requested = (uint64_t)(number), .offset = MLRUN_NO_OFFSET
#define DUPLICATES(old, fresh, flags) \
  DUPLICATE, fresh, .fd = (old), .requested = (uint32_t)(old), .offset = MLRUN_NO_OFFSET, .arg2 = (uint32_t)(flags)
#define CONTROLS(descriptor, command, argument)                                                      \
  CONTROL, command, .fd = (descriptor), .requested = (uint32_t)(command), .offset = MLRUN_NO_OFFSET, \
                    .arg2 = fcntl_number(command, argument)

// Messages over sockets
#define MESSAGE_AT(end_form, descriptor, message, flags) \
  MESSAGE, end_form, message, .fd = (descriptor), .offset = MLRUN_NO_OFFSET, .arg2 = (uint32_t)(flags)
#define SENDS(descriptor, message, flags)         MESSAGE_AT(end_message_call, descriptor, message, flags)
#define RECEIVES(descriptor, message, flags)      MESSAGE_AT(end_received_message, descriptor, message, flags)
#define SENDS_MANY(descriptor, messages, flags)   MESSAGE_AT(end_messages_call, descriptor, messages, flags)
#define RECEIVES_MANY(descriptor, message, flags) MESSAGE_AT(end_received_messages, descriptor, message, flags)

// Calls that copy from one descriptor to another; at, to_at: pointers to offsets, or null
#define COPIES(from, at, to, to_at, bytes, flags)                                                \
  COPY, at, to_at, .call.fd = (from), .call.requested = (bytes), .call.offset = MLRUN_NO_OFFSET, \
                   .call.arg2 = PAIR(to, flags), .second_fd = (to)

// Waits
#define WAITS(number, what) \
  WAIT, .fd = -1, .requested = (uint64_t)(number), .offset = MLRUN_NO_OFFSET, .arg2 = (uint64_t)(what)
#define WAITS_ON(descriptor, number, what) \
  WAIT, .fd = (descriptor), .requested = (uint64_t)(number), .offset = MLRUN_NO_OFFSET, .arg2 = (uint64_t)(what)

// Waits on an object that other threads post on
#define AWAITS(number, what) COUNTED_WAIT, .form = kCallCountsWaiter, WAIT_WORDS(number, what)
#define JOINS(thread)        JOIN, thread, WAIT_WORDS(0, thread)

// Waits for descriptors in a set
#define POLLS(set, count, what) POLL, set, count, WAIT_WORDS(count, what)

// Waits for a child; at: the parameter of the function that points to the status
#define REAPS(number, what, at)      REAP, at, WAIT_WORDS(number, what)
#define REAPS_INFO(number, what, at) REAP_INFO, at, WAIT_WORDS(number, what)
#define WAIT_WORDS(number, what) \
  .fd = -1, .requested = (uint64_t)(number), .offset = MLRUN_NO_OFFSET, .arg2 = (uint64_t)(what)

// Calls on a path
#define ON_PATH(directory_fd, name, number) \
  PATH, .call.fd = (directory_fd), .call.requested = (uint64_t)(number), .path = (name)
// ON_PATH for calls of which the kernel reads the name before it returns success or ENOENT: most calls, and all
// frequent ones.
#define LOOKED_UP(directory_fd, name, number) ON_PATH(directory_fd, name, number), .looks_up = true
// ON_PATH and LOOKED_UP for calls that write `room` bytes at `into`, which may overlap the name.
#define ON_PATH_INTO(directory_fd, name, number, into, room) \
  ON_PATH(directory_fd, name, number), .out = (const void *)(into), .out_bytes = (size_t)(room)
#define LOOKED_UP_INTO(directory_fd, name, number, into, room) \
  ON_PATH_INTO(directory_fd, name, number, into, room), .looks_up = true
#define ON_PATHS(directory_fd, name, second_directory_fd, second_name, number)           \
  PATH, .call.fd = (directory_fd), .call.requested = (uint64_t)(number), .path = (name), \
        .second_dirfd = (second_directory_fd), .second = (second_name)
#define RENAMES(directory_fd, name, second_directory_fd, second_name, number)              \
  RENAME, .call.fd = (directory_fd), .call.requested = (uint64_t)(number), .path = (name), \
          .second_dirfd = (second_directory_fd), .second = (second_name)
#define MODE_FOR(flags, mode) ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE ? (mode_t)(mode) : 0)
#define OPENED(directory_fd, name, flags, mode) \
  PATH, .call.fd = (directory_fd), .call.requested = PAIR(flags, mode), .path = (name), .opens = true, .looks_up = true
#define OPENED_UNNAMED(flags) UNNAMED, .call.fd = AT_FDCWD, .call.requested = PAIR(flags, 0)

// Calls that change what relative paths, and for chroot absolute ones, mean
#define ENTERS(name)          MOVE, .path.call.fd = AT_FDCWD, .path.path = (name), .path.looks_up = true
#define ENTERS_FD(descriptor) MOVE_FD, .fd = (descriptor), .offset = MLRUN_NO_OFFSET
