// SPDX-License-Identifier: Apache-2.0
// The front of a long text.
#pragma once

#include <cstddef>
#include <string_view>

namespace mlrun::exchange {

// The first whole characters of the text, at most `most_bytes` bytes.
[[nodiscard]] inline std::string_view front_of(std::string_view utf8, size_t most_bytes) {
  if (utf8.size() <= most_bytes) return utf8;
  while (most_bytes > 0 && (static_cast<unsigned char>(utf8[most_bytes]) & 0xc0) == 0x80) --most_bytes;
  return utf8.substr(0, most_bytes);
}

}  // namespace mlrun::exchange
