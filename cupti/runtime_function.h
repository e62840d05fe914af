// SPDX-License-Identifier: Apache-2.0
// What a call of the program would reach in libcudart, if no function of ours preceded it; cached by the place that
// calls.
#pragma once

#include <stdint.h>

#include "cupti/find_cupti.h"

#pragma GCC visibility push(hidden)

enum { kUnknownError = 999, kPlaces = 8 };

// `change` is odd during a write; `closed` is that of libraries_closed() of the producer at that write.
struct known_place {
  uint32_t change;
  const void *returns_to;
  void *function;
  uint64_t closed;
};

// Null: libcudart has no such function. `places`: kPlaces of them, for this name and version alone.
void *runtime_function(struct known_place *places, const char *name, struct linked_caller caller);

// Three functions of that name, for callers that are linked with one of three versions of libcudart. BODY(name, major,
// arguments) is their code: `places` is the cache, `linked` the caller.
#define RUNTIME_ENTRY(name, major, version, parameters, arguments, BODY)      \
  int caller_of_##name##_##major parameters;                                  \
  EXPORT int caller_of_##name##_##major parameters {                          \
    static struct known_place places[kPlaces];                                \
    const struct linked_caller linked = {major, __builtin_return_address(0)}; \
    BODY(name, major, arguments)                                              \
  }                                                                           \
  __asm__(".symver caller_of_" #name "_" #major "," #name version)
#define RUNTIME_ENTRIES(name, parameters, arguments, BODY)                  \
  RUNTIME_ENTRY(name, 12, "@libcudart.so.12", parameters, arguments, BODY); \
  RUNTIME_ENTRY(name, 13, "@libcudart.so.13", parameters, arguments, BODY); \
  RUNTIME_ENTRY(name, 14, "@libcudart.so.14", parameters, arguments, BODY)

// Declares `real.function`, as the entry itself is, or returns an error.
#define RUNTIME_REAL(name, major)                     \
  union {                                             \
    void *address;                                    \
    __typeof__(&caller_of_##name##_##major) function; \
  } real = {runtime_function(places, #name, linked)}; \
  if (!real.address) return kUnknownError;

#pragma GCC visibility pop
