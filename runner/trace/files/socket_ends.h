// SPDX-License-Identifier: Apache-2.0
// Packs both addresses of a socket into one text. The table of files stores one, since most of its files have no address.
#pragma once

#include <string>
#include <string_view>

namespace mlrun::trace {

inline constexpr char kBetweenEnds = '\xff';  // never in an address, which is valid UTF-8

struct SocketEnds {
  std::string_view other, own;  // empty: unknown
};

inline std::string pack(const SocketEnds& ends) {
  return ends.own.empty() ? std::string(ends.other) : std::string(ends.other) + kBetweenEnds + std::string(ends.own);
}

inline SocketEnds unpack(std::string_view packed) {
  const size_t at = packed.find(kBetweenEnds);
  return at == std::string_view::npos ? SocketEnds{packed, {}}
                                      : SocketEnds{packed.substr(0, at), packed.substr(at + 1)};
}

}  // namespace mlrun::trace
