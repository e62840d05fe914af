// SPDX-License-Identifier: Apache-2.0
// Whether the function with a return address is the one of a rule: a search through all symbols of its library, so the answers are kept. A library's
// number is never used again in the process, so no answer is applied to another library that is loaded at the same address. Any thread, any
// signal handler; no thread waits.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

// One word: {number of the library 24 | offset in its code 32 | rule 6 | 0 2}.
typedef uint64_t site_question;

// offset: of the return address, from the library's first code. 0: the answer cannot be kept.
INLINE site_question ask_site(uint32_t library, uint64_t offset, uint32_t rule) {
  enum { kLibraryBits = 24, kOffsetBits = 32, kRuleBits = 6 };
  if (library >> kLibraryBits || offset >> kOffsetBits || rule >> kRuleBits) return 0;
  return (((uint64_t)library << kOffsetBits | offset) << kRuleBits | rule) << 2;
}

enum site_answer { SITE_UNKNOWN, SITE_MATCHES_NOT, SITE_MATCHES };

enum site_answer find_site_answer(site_question question);
void keep_site_answer(site_question question, bool matches);

#pragma GCC visibility pop
