// SPDX-License-Identifier: Apache-2.0
// A library with functions of its own that are named as those of an allocator which its free does not belong to.
#include <stddef.h>

int calls;

void cfree(void *block) { calls += block == NULL; }

void free_sized(void *block, size_t size) { calls += block == NULL && size == 0; }
