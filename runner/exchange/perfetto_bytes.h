// SPDX-License-Identifier: Apache-2.0
// Fields of a protobuf message in a buffer that is reused: what is written for every row. protozero's own writer, which moves
// the bytes of each inner message when it is closed, writes the rest.
#pragma once

#include <cstdint>
#include <cstring>
#include <protozero/varint.hpp>
#include <string_view>
#include <vector>

namespace mlrun::exchange {

class PerfettoBytes {
 public:
  void clear() { size_ = 0; }
  [[nodiscard]] std::string_view view() const { return {buffer_.data(), size_}; }

  // Requires of all: field < 2048.
  void number(uint32_t field, uint64_t value) {
    need(kMostNumber);
    tag(field, 0);
    varint(value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    need(kMostNumber);
    tag(field, 1);
    std::memcpy(buffer_.data() + size_, &value, sizeof(value));
    size_ += sizeof(value);
  }
  void text(uint32_t field, std::string_view text) {
    need(kMostNumber + text.size());
    tag(field, 2);
    varint(text.size());
    std::memcpy(buffer_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  // A message in `field` whose fields write() appends: at most 127 bytes.
  template <typename Write>
  void small_message(uint32_t field, Write write) {
    need(kMostNumber);
    tag(field, 2);
    const size_t at = size_++;
    write();
    buffer_[at] = char(size_ - at - 1);
  }
  // The beginning of a message of `size` bytes.
  void message(uint32_t field, size_t size) {
    need(kMostNumber);
    tag(field, 2);
    varint(size);
  }

 private:
  static constexpr size_t kMostNumber = 16;

  void need(size_t bytes) {
    if (size_ + bytes > buffer_.size()) buffer_.resize((size_ + bytes) * 2);
  }
  void tag(uint32_t field, uint32_t type) { varint(field << 3 | type); }
  void varint(uint64_t value) { size_ += size_t(protozero::add_varint_to_buffer(buffer_.data() + size_, value)); }

  std::vector<char> buffer_ = std::vector<char>(4096);
  size_t size_ = 0;
};

}  // namespace mlrun::exchange
