// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/plain_json.h"

#include <utility>

#include "runner/exchange/import/json_marks.h"

namespace mlrun::exchange {

namespace {

constexpr int kPlainDepthMax = 512;

// Marks of a block of 64 bytes, which find the end of an object or array and bytes that are not plain.
struct PlainMarks : JsonMarks {
  uint64_t low = 0;   // control characters, white space among them, and bytes that are not ASCII
  uint64_t high = 0;  // bytes that are not ASCII
  uint64_t odd = 0;   // the letter i, which only words have that JSON lacks (Infinity)
  uint64_t n = 0;     // the letter n, which begins null or NaN
};

PlainMarks plain_marks(const char* block) {
  PlainMarks marks;
  for (size_t at = 0; at < kJsonBlock; at += JsonBytes::kBytes) {
    const JsonBytes bytes(block, at);
    mark(bytes, marks);
    marks.low |= bytes.below(' ');
    marks.high |= bytes.below(0);
    marks.odd |= bytes.equal_lower('i');
    marks.n |= bytes.equal_lower('n');
  }
  return marks;
}

// The bytes that a backslash before them escapes. `carry`: whether the block's first byte is escaped; set to this for the next block.
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

// Counts the brackets of one block. Returns the bit of the bracket that brings `depth` to 0; kJsonBlock: none does.
size_t find_end(uint64_t opens, uint64_t closes, int& depth) {
  if (closes == 0) {
    depth += std::popcount(opens);
    return kJsonBlock;
  }
  for (uint64_t both = opens | closes; both != 0; both &= both - 1) {
    const auto bit = static_cast<size_t>(std::countr_zero(both));
    depth += (opens >> bit & 1) != 0 ? 1 : -1;
    if (depth == 0) return bit;
  }
  return kJsonBlock;
}

}  // namespace

// An object must begin with a member or '}'. Else it is damaged, which counting brackets does not show.
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
  for (const char* block = at_; block < end_; block += kJsonBlock) {
    const PlainMarks marks = plain_marks(block);
    const uint64_t escaped = escaped_bytes(marks.backslashes, carry);
    const uint64_t texts = parities(marks.quotes & ~escaped) ^ in_text;
    in_text = texts >> 63 != 0 ? ~uint64_t{0} : 0;
    const size_t end = find_end(marks.opens & ~texts, marks.closes & ~texts, depth);
    if (depth > kPlainDepthMax) return false;
    const uint64_t seen = end >= kJsonBlock - 1 ? ~uint64_t{0} : (uint64_t{2} << end) - 1;
    const uint64_t unsound = (marks.low & texts) | marks.high | ((marks.odd | marks.backslashes) & ~texts);
    if ((unsound & seen) != 0) return false;
    for (uint64_t n = marks.n & ~texts & seen; n != 0; n &= n - 1) {
      if (block[std::countr_zero(n) + 1] != 'u') return false;
    }
    if (end == kJsonBlock) continue;
    const char* behind = block + end + 1;
    if (behind > end_) return false;
    raw = {at_, static_cast<size_t>(behind - at_)};
    at_ = behind;
    return true;
  }
  return false;
}

}  // namespace mlrun::exchange
