// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/line_table.h"

#include <cstddef>

namespace mlrun::python {

namespace {

enum Kind : uint8_t { kOneLine0 = 10, kOneLine1 = 11, kOneLine2 = 12, kNoColumns = 13, kLong = 14, kNone = 15 };

// Decodes a number in groups of six bits, lowest first; bit 6: more groups follow. The number's lowest bit is its sign.
int64_t signed_number(std::span<const uint8_t> bytes) {
  constexpr unsigned kBitsMax = 36;
  uint64_t number = 0;
  unsigned shift = 0;
  for (const uint8_t byte : bytes) {
    number |= uint64_t{byte & 0x3fu} << shift;
    shift += 6;
    if ((byte & 0x40) == 0 || shift > kBitsMax) break;
  }
  const auto value = static_cast<int64_t>(number >> 1);
  return (number & 1) != 0 ? -value : value;
}

int64_t line_step(uint8_t kind, std::span<const uint8_t> rest) {
  switch (kind) {
    case kOneLine1: return 1;
    case kOneLine2: return 2;
    case kNoColumns:
    case kLong: return signed_number(rest);
    default: return 0;
  }
}

}  // namespace

int32_t line_at(std::span<const uint8_t> table, int32_t first_line, uint64_t offset_bytes) {
  constexpr uint8_t kBegins = 0x80;
  constexpr uint64_t kUnitBytes = 2;
  int64_t line = first_line;
  uint64_t end_bytes = 0;
  for (size_t at = 0; at < table.size();) {
    const uint8_t head = table[at];
    if ((head & kBegins) == 0) return 0;
    size_t next = at + 1;
    while (next < table.size() && (table[next] & kBegins) == 0) ++next;
    const auto kind = static_cast<uint8_t>(head >> 3 & 0xf);
    line += line_step(kind, table.subspan(at + 1, next - at - 1));
    end_bytes += ((head & 7u) + 1) * kUnitBytes;
    if (offset_bytes < end_bytes) return kind == kNone || line < 0 || line > INT32_MAX ? 0 : static_cast<int32_t>(line);
    at = next;
  }
  return 0;
}

}  // namespace mlrun::python
