// SPDX-License-Identifier: Apache-2.0
// Finds the function of libcudart that a call of the program would reach if no function of ours preceded it. The result
// is cached by the caller's return address.
#pragma once

#include <stdint.h>

#include "cupti/linked_entry.h"

#pragma GCC visibility push(hidden)

enum { kPlaces = 8 };

// An entry of the cache. `change` is odd during a write. `closed`: number of libraries closed before the write, plus 1
// (libraries_closed() of the producer).
struct known_place {
  uint32_t change;
  const void *returns_to;
  void *function;
  uint64_t closed;
};

// Null: libcudart has no such function. `places`: the cache, kPlaces entries that only this name and version use.
void *runtime_function(struct known_place *places, const char *name, struct linked_caller caller);

// In an entry of libcudart's: declares `real.call`, with the entry's type.
#define RUNTIME_REAL(name, major)            \
  static struct known_place places[kPlaces]; \
  REAL_CALL(&entry_##name##_##major, runtime_function(places, #name, caller))

#pragma GCC visibility pop
