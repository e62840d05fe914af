// SPDX-License-Identifier: Apache-2.0
// What the captures of the hook table mean: the form of the call, then the fields that its arguments fill.
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "runner/events/record.h"

#define PAIR(low, high) ((uint32_t)(low) | (uint64_t)(uint32_t)(high) << 32)

// Calls on a descriptor
#define ON_FD(descriptor, number, other) \
  DESCRIPTOR, .fd = (descriptor), .requested = (uint64_t)(number), .offset = MLRUN_NO_OFFSET, .arg2 = (uint64_t)(other)
#define IO(descriptor, bytes) DESCRIPTOR, .fd = (descriptor), .requested = (bytes), .offset = MLRUN_NO_OFFSET
#define IO_AT(descriptor, bytes, position) \
  DESCRIPTOR, .fd = (descriptor), .requested = (bytes), .offset = (uint64_t)(position)
#define IO_VECTOR(descriptor, vector, count) VECTOR, vector, count, .fd = (descriptor), .offset = MLRUN_NO_OFFSET
#define IO_VECTOR_AT(descriptor, vector, count, position, flags) \
  VECTOR, vector, count, .fd = (descriptor), .offset = (uint64_t)(position), .arg2 = (uint32_t)(flags)
#define CLOSED(descriptor) CLOSE, .fd = (descriptor), .offset = MLRUN_NO_OFFSET
#define MAPPED(descriptor, bytes, position, protection, map_flags)                          \
  DESCRIPTOR, .fd = (map_flags)&MAP_ANONYMOUS ? -1 : (descriptor), .requested = (bytes),    \
              .offset = (map_flags)&MAP_ANONYMOUS ? MLRUN_NO_OFFSET : (uint64_t)(position), \
              .arg2 = PAIR(protection, map_flags)

// Calls on a path
#define ON_PATH(directory_fd, name, number) \
  PATH, .call.fd = (directory_fd), .call.requested = (uint64_t)(number), .path = (name)
#define ON_PATHS(directory_fd, name, second_directory_fd, second_name, number)           \
  PATH, .call.fd = (directory_fd), .call.requested = (uint64_t)(number), .path = (name), \
        .second_dirfd = (second_directory_fd), .second = (second_name)
#define OPENED(directory_fd, name, flags, mode) \
  PATH, .call.fd = (directory_fd), .call.requested = PAIR(flags, mode), .path = (name), .opens = true
