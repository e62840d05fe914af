// SPDX-License-Identifier: Apache-2.0
// Turns CUPTI's buffers into the session's records, on the thread that CUPTI calls: names that a record points to are
// only valid as long as their module is loaded.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

void read_records(void *context, uint32_t stream, uint8_t *buffer, size_t valid_bytes);

// `bytes` of records were discarded.
void count_unread(size_t bytes);

// Records read so far; rises while there is work to do.
uint64_t records_read(void);

// Work on a device has come, but no record that describes the device.
bool device_is_missing(void);

#pragma GCC visibility pop
