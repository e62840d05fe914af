// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/plain_json.h"

#include <utility>

namespace mlrun::exchange {

namespace {

constexpr size_t kPlainBlock = 64;
constexpr int kPlainDepthMax = 512;

// The bits of a block of bytes that matter in an object or array.
struct PlainMarks {
  uint64_t quotes = 0, backslashes = 0, opens = 0, closes = 0;
  uint64_t low = 0;   // control characters, white space among them, and bytes that are not ASCII
  uint64_t high = 0;  // bytes that are not ASCII
  uint64_t odd = 0;   // letters that only words have which JSON lacks (Infinity)
  uint64_t n = 0;     // of null, or of NaN
};

#ifdef __SSE2__
PlainMarks plain_marks(const char* bytes) {
  PlainMarks marks;
  for (size_t i = 0; i < kPlainBlock; i += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    const __m128i lower = _mm_or_si128(block, _mm_set1_epi8(0x20));  // { and [ become one, as do } and ]
    const auto bits = [&](__m128i found) {
      return static_cast<uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(found))) << i;
    };
    const auto equal = [&](__m128i of, char byte) { return bits(_mm_cmpeq_epi8(of, _mm_set1_epi8(byte))); };
    marks.quotes |= equal(block, '"');
    marks.backslashes |= equal(block, '\\');
    marks.opens |= equal(lower, '{');
    marks.closes |= equal(lower, '}');
    marks.low |= bits(_mm_cmplt_epi8(block, _mm_set1_epi8(' ')));
    marks.high |= bits(block);
    marks.odd |= equal(lower, 'i');
    marks.n |= equal(lower, 'n');
  }
  return marks;
}
#else
PlainMarks plain_marks(const char* bytes) {
  PlainMarks marks;
  for (size_t i = 0; i < kPlainBlock; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    const char byte = bytes[i], lower = static_cast<char>(byte | 0x20);
    if (byte == '"') marks.quotes |= bit;
    if (byte == '\\') marks.backslashes |= bit;
    if (lower == '{') marks.opens |= bit;
    if (lower == '}') marks.closes |= bit;
    if (static_cast<signed char>(byte) < ' ') marks.low |= bit;
    if (static_cast<signed char>(byte) < 0) marks.high |= bit;
    if (lower == 'i') marks.odd |= bit;
    if (lower == 'n') marks.n |= bit;
  }
  return marks;
}
#endif

// Each bit is the parity of the bits up to it: from an opening quote to before the closing one.
uint64_t parities(uint64_t quotes) {
  for (const unsigned shift : {1u, 2u, 4u, 8u, 16u, 32u}) quotes ^= quotes << shift;
  return quotes;
}

// Which bytes follow a backslash that escapes them. `carry`: whether the first one does; then whether the first one of the next block does.
uint64_t escaped_bytes(uint64_t backslashes, uint64_t& carry) {
  constexpr uint64_t kOddBits = 0xaaaa'aaaa'aaaa'aaaa;
  if (backslashes == 0) return std::exchange(carry, 0);
  // In a row of backslashes every other one escapes: a subtraction carries through the row.
  const uint64_t may_escape = backslashes & ~carry;
  const uint64_t codes = (((may_escape << 1) | kOddBits) - may_escape) ^ kOddBits;
  const uint64_t escaped = codes ^ (backslashes | carry);
  carry = (codes & backslashes) >> 63;
  return escaped;
}

// Steps over the brackets of one block. Returns the bit behind which depth is 0; kPlainBlock: none.
size_t find_end(uint64_t opens, uint64_t closes, int& depth) {
  if (closes == 0) {
    depth += std::popcount(opens);
    return kPlainBlock;
  }
  for (uint64_t both = opens | closes; both != 0; both &= both - 1) {
    const auto bit = static_cast<size_t>(std::countr_zero(both));
    depth += (opens >> bit & 1) != 0 ? 1 : -1;
    if (depth == 0) return bit;
  }
  return kPlainBlock;
}

}  // namespace

// An object that begins with something else than a member is damaged, which its brackets do not show.
bool PlainJson::begins_soundly() const {
  if (*at_ == '[') return true;
  PlainJson inner({at_ + 1, static_cast<size_t>(end_ - at_ - 1)});
  std::string_view key;
  return inner.take('}') || (inner.peek() == '"' && inner.text(key) && inner.take(':'));
}

bool PlainJson::nested(std::string_view& raw) {
  if (!begins_soundly()) return false;
  uint64_t in_text = 0, carry = 0;
  int depth = 0;
  for (const char* block = at_; block < end_; block += kPlainBlock) {
    const PlainMarks marks = plain_marks(block);
    const uint64_t escaped = escaped_bytes(marks.backslashes, carry);
    const uint64_t texts = parities(marks.quotes & ~escaped) ^ in_text;
    in_text = texts >> 63 != 0 ? ~uint64_t{0} : 0;
    const size_t end = find_end(marks.opens & ~texts, marks.closes & ~texts, depth);
    if (depth > kPlainDepthMax) return false;
    const uint64_t seen = end >= kPlainBlock - 1 ? ~uint64_t{0} : (uint64_t{2} << end) - 1;
    const uint64_t unsound = (marks.low & texts) | marks.high | ((marks.odd | marks.backslashes) & ~texts);
    if ((unsound & seen) != 0) return false;
    for (uint64_t n = marks.n & ~texts & seen; n != 0; n &= n - 1) {
      if (block[std::countr_zero(n) + 1] != 'u') return false;
    }
    if (end == kPlainBlock) continue;
    const char* behind = block + end + 1;
    if (behind > end_) return false;
    raw = {at_, static_cast<size_t>(behind - at_)};
    at_ = behind;
    return true;
  }
  return false;
}

}  // namespace mlrun::exchange
