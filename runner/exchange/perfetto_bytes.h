// SPDX-License-Identifier: Apache-2.0
// Writes the protobuf fields of a row's packets to a buffer that is reused. Rare packets are written by protozero's own writer, which is
// slower, as it moves the bytes of each inner message when the message is closed.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace mlrun::exchange {

class PerfettoBytes {
 public:
  PerfettoBytes() = default;
  PerfettoBytes(const PerfettoBytes&) = delete;
  PerfettoBytes& operator=(const PerfettoBytes&) = delete;

  void clear() { at_ = buffer_.data(); }
  [[nodiscard]] std::string_view view() const { return {buffer_.data(), size_t(at_ - buffer_.data())}; }

  // All functions require: field < 2048.
  [[gnu::always_inline]] void number(uint32_t field, uint64_t value) {
    need(kMostNumber);
    tag(field, 0);
    varint(value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    need(kMostNumber);
    tag(field, 1);
    append(&value, sizeof(value));
  }
  void text(uint32_t field, std::string_view text) {
    need(kMostNumber + text.size());
    tag(field, 2);
    varint(text.size());
    append(text.data(), text.size());
  }
  // A message in `field` whose fields write() appends: at most 127 bytes.
  template <typename Write>
  void small_message(uint32_t field, Write write) {
    need(kMostMessage);  // else write() could move the buffer away from `size`
    tag(field, 2);
    char* const size = at_++;
    write();
    *size = char(at_ - size - 1);
  }
  // Only the tag and size of a message; its `size` bytes follow.
  void message(uint32_t field, size_t size) {
    need(kMostNumber);
    tag(field, 2);
    varint(size);
  }

 private:
  static constexpr size_t kMostNumber = 16, kMostMessage = 160;

  [[gnu::always_inline]] void need(size_t bytes) {
    if (size_t(end_ - at_) < bytes) [[unlikely]]
      grow(bytes);
  }
  [[gnu::noinline]] void grow(size_t bytes) {
    const size_t size = view().size();
    buffer_.resize((size + bytes) * 2);
    at_ = buffer_.data() + size;
    end_ = buffer_.data() + buffer_.size();
  }
  void append(const void* bytes, size_t size) {
    std::memcpy(at_, bytes, size);
    at_ += size;
  }
  [[gnu::always_inline]] void tag(uint32_t field, uint32_t type) { varint(field << 3 | type); }
  [[gnu::always_inline]] void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = char(value | 0x80);
    *at_++ = char(value);
  }

  std::vector<char> buffer_ = std::vector<char>(4096);
  char* at_ = buffer_.data();
  char* end_ = buffer_.data() + buffer_.size();
};

}  // namespace mlrun::exchange
