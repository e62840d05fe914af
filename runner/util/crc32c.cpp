// SPDX-License-Identifier: Apache-2.0
// The instruction has a latency of three cycles and a throughput of one, so long inputs are split into three parallel
// lanes; a lane's checksum is then advanced over the bytes after it. Advancing is linear in the bits of the checksum:
// four tables, one for each of its bytes.
#include "runner/util/crc32c.h"

#include <nmmintrin.h>

#include <array>
#include <cstring>

namespace mlrun::util {

namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;
constexpr size_t kLaneBytes = 512;

constexpr std::array<uint32_t, 256> make_byte_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (kPolynomial & (0u - (crc & 1u)));
    table[byte] = crc;
  }
  return table;
}
constexpr auto kByteTable = make_byte_table();

using MoveTable = std::array<std::array<uint32_t, 256>, 4>;

// A raw checksum advanced over kLaneBytes zeros.
constexpr MoveTable make_move_table() {
  std::array<uint32_t, 32> of_bit{};
  for (size_t bit = 0; bit < 32; bit++) {
    uint32_t crc = 1u << bit;
    for (size_t i = 0; i < kLaneBytes; i++) crc = crc >> 8 ^ kByteTable[crc & 0xff];
    of_bit[bit] = crc;
  }
  MoveTable table{};
  for (size_t part = 0; part < 4; part++) {
    for (size_t byte = 0; byte < 256; byte++) {
      for (size_t bit = 0; bit < 8; bit++) {
        if ((byte >> bit & 1) != 0) table[part][byte] ^= of_bit[part * 8 + bit];
      }
    }
  }
  return table;
}
constexpr MoveTable kMove = make_move_table();

uint64_t move_over_lane(uint64_t crc) {
  return kMove[0][crc & 0xff] ^ kMove[1][crc >> 8 & 0xff] ^ kMove[2][crc >> 16 & 0xff] ^ kMove[3][crc >> 24 & 0xff];
}

uint64_t word_at(const unsigned char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

__attribute__((target("sse4.2"))) uint32_t by_instruction(uint32_t crc, const unsigned char* at, size_t bytes) {
  uint64_t a = ~crc;
  for (; bytes >= 3 * kLaneBytes; at += 3 * kLaneBytes, bytes -= 3 * kLaneBytes) {
    uint64_t b = 0;
    uint64_t c = 0;
    for (size_t i = 0; i < kLaneBytes; i += 8) {
      a = _mm_crc32_u64(a, word_at(at + i));
      b = _mm_crc32_u64(b, word_at(at + kLaneBytes + i));
      c = _mm_crc32_u64(c, word_at(at + 2 * kLaneBytes + i));
    }
    a = move_over_lane(move_over_lane(a) ^ b) ^ c;
  }
  for (; bytes >= 8; at += 8, bytes -= 8) a = _mm_crc32_u64(a, word_at(at));
  auto rest = static_cast<uint32_t>(a);
  for (; bytes > 0; at++, bytes--) rest = _mm_crc32_u8(rest, *at);
  return ~rest;
}

}  // namespace

uint32_t crc32c_by_table(uint32_t crc, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  crc = ~crc;
  for (; bytes > 0; at++, bytes--) crc = crc >> 8 ^ kByteTable[(crc ^ *at) & 0xff];
  return ~crc;
}

uint32_t crc32c(uint32_t crc, const void* data, size_t bytes) {
  static const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
  if (!kHasInstruction) return crc32c_by_table(crc, data, bytes);
  return by_instruction(crc, static_cast<const unsigned char*>(data), bytes);
}

}  // namespace mlrun::util
