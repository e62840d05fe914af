// SPDX-License-Identifier: Apache-2.0
// Turns the records in CUPTI's buffers into records of the trace, on the thread on which CUPTI returns the buffer:
// names that a record points to are only valid as long as their module is loaded.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

void read_records(void *context, uint32_t stream, uint8_t *buffer, size_t valid_bytes);

// Counts `bytes` of a buffer whose records were discarded.
void count_unread(size_t bytes);

// Number of records read so far.
uint64_t records_read(void);

// True: records of work on a device have come, but no record that describes a device.
bool device_is_missing(void);

#pragma GCC visibility pop
