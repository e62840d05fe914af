// SPDX-License-Identifier: Apache-2.0
// How many bytes a vectored call asked for.
#pragma once

#include <stdint.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

// To be asked after the call. Only a call that succeeded vouches for the vector; else it is copied by way of the
// kernel, which cannot fault. 0: it cannot be read.
uint64_t io_vector_bytes(const struct iovec *vector, int count, int64_t result);

#pragma GCC visibility pop
