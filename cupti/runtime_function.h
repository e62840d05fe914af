// SPDX-License-Identifier: Apache-2.0
// Finds the function of libcudart that a call of the program would reach if no function of ours preceded it. The result
// is cached by the caller's return address.
#pragma once

#include <stdint.h>

#include "cupti/find_cupti.h"

#pragma GCC visibility push(hidden)

enum { kUnknownError = 999, kPlaces = 8 };

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

// Defines three functions of that name, for callers that are linked with libcudart 12, 13 or 14. BODY(name, major,
// arguments) is their code; in it `places` is the cache and `linked` the caller.
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

// Declares `real.function`, libcudart's function, with the type of the entry. If there is none, returns an error from
// the entry.
#define RUNTIME_REAL(name, major)                     \
  union {                                             \
    void *address;                                    \
    __typeof__(&caller_of_##name##_##major) function; \
  } real = {runtime_function(places, #name, linked)}; \
  if (!real.address) return kUnknownError;

#pragma GCC visibility pop
