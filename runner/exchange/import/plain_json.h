// SPDX-License-Identifier: Apache-2.0
// A cursor on plain JSON, as most programs write it: ASCII, no escapes in texts that are parsed, no words but true, false and null. It is several
// times as fast as a full JSON parser. Each function returns false for anything else: a full parser must then read the value from its beginning,
// and decides what it is. nested() skips an object or array by its brackets, as simdjson does, so it does not see all damage inside.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <cstdint>
#include <string_view>

namespace mlrun::exchange {

class PlainJson {
 public:
  // Requires: 64 bytes behind `bytes` can be read.
  explicit PlainJson(std::string_view bytes) : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  [[nodiscard]] size_t used() const { return static_cast<size_t>(at_ - begin_); }
  [[nodiscard]] bool is_at_end() const { return at_ == end_; }

  // The next byte that is not white space, which is not consumed; '\0' at the end.
  char peek() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    return at_ == end_ ? '\0' : *at_;
  }
  bool take(char wanted) {
    const bool is_there = peek() == wanted;
    if (is_there) ++at_;
    return is_there;
  }
  // The text between the quotes. Requires: peek() has returned a quote.
  bool text(std::string_view& text) {
    const char* from = at_ + 1;
    const char* stop = plain_end(from);
    if (stop >= end_ || *stop != '"') return false;
    text = {from, static_cast<size_t>(stop - from)};
    at_ = stop + 1;
    return true;
  }
  // A number, true, false or null. Requires: peek() has returned none of `"{[`.
  bool word(std::string_view& word) {
    const char* from = at_;
    const bool is_number = *from == '-' || (*from >= '0' && *from <= '9');
    while (at_ != end_ && (is_number ? is_of_number(*at_) : *at_ >= 'a' && *at_ <= 'z')) ++at_;
    word = {from, static_cast<size_t>(at_ - from)};
    if (word.empty()) return false;
    if (!is_number) return word == "true" || word == "false" || word == "null";
    return word.back() >= '0' && word.back() <= '9';
  }
  // An object or array, as it is written; texts in it may have escapes. Requires: peek() has returned its bracket.
  bool nested(std::string_view& raw);

 private:
  static bool is_of_number(char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || (c | 0x20) == 'e';
  }

  [[nodiscard]] bool begins_soundly() const;
  // The first quote, backslash, control character, or byte that is not ASCII; end_ or later if there is none before end_.
  const char* plain_end(const char* from) const {
#ifdef __SSE2__
    for (; from < end_; from += 16) {
      const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
      const __m128i quotes = _mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                    backslashes = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
      const __m128i others = _mm_cmplt_epi8(block, _mm_set1_epi8(' '));
      const auto found =
          static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, backslashes), others)));
      if (found != 0) return from + std::countr_zero(found);
    }
#else
    while (from < end_ && *from != '"' && *from != '\\' && static_cast<signed char>(*from) >= ' ') ++from;
#endif
    return from;
  }

  const char *begin_, *at_, *end_;
};

}  // namespace mlrun::exchange
