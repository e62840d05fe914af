// SPDX-License-Identifier: Apache-2.0
// Where a block of 64 bytes of JSON has quotes, backslashes and brackets: a word for each, in which the lowest bit is the first byte.
#pragma once

#include <emmintrin.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace mlrun::exchange {

inline constexpr size_t kJsonBlock = 64;

struct JsonMarks {
  uint64_t quotes = 0, backslashes = 0, opens = 0, closes = 0;
};

// 16 bytes of a block. Results are bits of the block's word, from bit `at` on.
class JsonBytes {
 public:
  static constexpr size_t kBytes = 16;
  JsonBytes(const char* block, size_t at)
      : at_(at),
        bytes_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at))),
        lower_(_mm_or_si128(bytes_, _mm_set1_epi8(0x20))) {}
  [[nodiscard]] uint64_t equal(char byte) const { return bits(_mm_cmpeq_epi8(bytes_, _mm_set1_epi8(byte))); }
  [[nodiscard]] uint64_t equal_lower(char byte) const { return bits(_mm_cmpeq_epi8(lower_, _mm_set1_epi8(byte))); }
  [[nodiscard]] uint64_t below(char byte) const { return bits(_mm_cmplt_epi8(bytes_, _mm_set1_epi8(byte))); }

 private:
  [[nodiscard]] uint64_t bits(__m128i found) const {
    return static_cast<uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(found))) << at_;
  }
  size_t at_;
  __m128i bytes_, lower_;
};

inline void mark(const JsonBytes& bytes, JsonMarks& marks) {
  marks.quotes |= bytes.equal('"');
  marks.backslashes |= bytes.equal('\\');
  marks.opens |= bytes.equal_lower('{');  // { and [ are one in lower case, as are } and ]
  marks.closes |= bytes.equal_lower('}');
}

// Each bit of the result is the parity of the bits up to it: 1 from an opening quote to before the closing one.
inline uint64_t parities(uint64_t quotes) {
  for (const unsigned shift : {1u, 2u, 4u, 8u, 16u, 32u}) quotes ^= quotes << shift;
  return quotes;
}

}  // namespace mlrun::exchange
