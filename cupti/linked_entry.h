// SPDX-License-Identifier: Apache-2.0
// Functions with the names of another library's, in its symbol versions. A process may contain several versions of a
// library; the version of the symbol (libcupti.so.12, ...) shows which one a caller is linked with. Macros, since a name
// and a version cannot be arguments of a function.
#pragma once

#include "cupti/find_cupti.h"
#include "preload/base/compiler.h"

enum { kUnknownError = 999 };  // of CUPTI and of libcudart alike

// Defines entry_NAME_MAJOR, exported as NAME with the version. BODY(name, major, arguments) is its code; in it `caller`
// is the caller.
#define LINKED_ENTRY(name, major, version, parameters, arguments, BODY)       \
  int entry_##name##_##major parameters;                                      \
  EXPORT int entry_##name##_##major parameters {                              \
    const struct linked_caller caller = {major, __builtin_return_address(0)}; \
    BODY(name, major, arguments)                                              \
  }                                                                           \
  __asm__(".symver entry_" #name "_" #major "," #name version)

// Three functions of that name, for callers that are linked with the library's version 12, 13 or 14.
#define LINKED_ENTRIES(library, name, parameters, arguments, BODY)           \
  LINKED_ENTRY(name, 12, "@" library ".so.12", parameters, arguments, BODY); \
  LINKED_ENTRY(name, 13, "@" library ".so.13", parameters, arguments, BODY); \
  LINKED_ENTRY(name, 14, "@" library ".so.14", parameters, arguments, BODY)

// Declares `real.call`, the function at the address, which the caller would call without ours. If there is none, returns
// an error.
#define REAL_CALL(type, found) \
  union {                      \
    void *address;             \
    __typeof__(type) call;     \
  } real = {found};            \
  if (!real.address) return kUnknownError
