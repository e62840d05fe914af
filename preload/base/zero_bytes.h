// SPDX-License-Identifier: Apache-2.0
// Where a text ends, without libc's code.
#pragma once

#include <emmintrin.h>

#include "preload/base/compiler.h"

// One bit for each zero byte of the 16 at `block`. An aligned block never reaches into a page that the text does not
// touch.
INLINE uint32_t zeros_in(const char *block) {
  __m128i bytes = _mm_load_si128((const __m128i *)(const void *)block);
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
}
