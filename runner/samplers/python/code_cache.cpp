// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/code_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "runner/samplers/python/remote_memory.h"

namespace mlrun::python {

namespace {

constexpr uint64_t kUnitBytes = 2;
constexpr uint64_t kTextMax = 1024, kLinesMax = 1 << 18, kUnitsMax = 1 << 26;

void append_utf8(uint32_t point, std::string& text) {
  constexpr uint32_t kByte = 0xdc80, kLastByte = 0xdcff;  // a byte of a name that is not UTF-8 ("surrogateescape")
  const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (point >= kByte && point <= kLastByte) {
    put(point - 0xdc00);
  } else if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | (point >> 18 & 0x7));
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

template <typename Unit>
std::string utf8_of(const std::vector<char>& bytes) {
  std::string text;
  for (size_t at = 0; at + sizeof(Unit) <= bytes.size(); at += sizeof(Unit)) {
    append_utf8(value_at<Unit>(bytes.data(), at), text);
  }
  return text;
}

}  // namespace

CodeCache::Identity CodeCache::identity_of(const char* head) const {
  Identity identity;
  identity.units = value_at<uint64_t>(head, layout_.size);
  identity.file = value_at<uint64_t>(head, layout_.code_file);
  identity.function = value_at<uint64_t>(head, layout_.code_function);
  identity.lines = value_at<uint64_t>(head, layout_.code_lines);
  identity.first_line = value_at<int32_t>(head, layout_.code_first_line);
  if (layout_.code_version != 0) identity.version = value_at<uint32_t>(head, layout_.code_version);
  return identity;
}

bool CodeCache::find(RemoteMemory& memory, const std::vector<uint64_t>& addresses,
                     std::vector<std::shared_ptr<const Code>>& codes) {
  const uint64_t head_bytes = layout_.code_instructions;
  if (head_bytes == 0 || head_bytes > kHeadBytes) return false;
  if (known_.size() + addresses.size() > kCodesMax || known_bytes_ > kKnownBytesMax) {
    known_.clear();
    known_bytes_ = 0;
  }
  heads_.resize(addresses.size() * kHeadBytes);
  std::vector<RemotePiece> pieces;
  for (size_t i = 0; i < addresses.size(); ++i) pieces.push_back({addresses[i], &heads_[i * kHeadBytes], head_bytes});
  if (!memory.read(pieces)) return false;
  codes.assign(addresses.size(), nullptr);
  for (size_t i = 0; i < addresses.size(); ++i) {
    const char* head = &heads_[i * kHeadBytes];
    if (value_at<uint64_t>(head, kTypeAt) != types_.code) return false;
    const Identity identity = identity_of(head);
    auto known = known_.find(addresses[i]);
    if (known == known_.end() || known->second.identity != identity) {
      const auto code = std::make_shared<Code>();
      if (!read_code(memory, addresses[i], identity, head, *code)) return false;
      known_bytes_ += code->lines.size() + code->file.size() + code->function.size();
      known = known_.insert_or_assign(addresses[i], Known{identity, code}).first;
    }
    codes[i] = known->second.code;
  }
  return true;
}

bool CodeCache::read_code(RemoteMemory& memory, uint64_t address, const Identity& identity, const char* head,
                          Code& code) const {
  if (identity.units > kUnitsMax) return false;
  code.first_line = identity.first_line;
  code.instructions = address + layout_.code_instructions;
  code.instruction_bytes = identity.units * kUnitBytes;
  code.traceable = code.instructions;
  code.slots =
      value_at<uint32_t>(head, layout_.code_first_line - 4) + value_at<uint32_t>(head, layout_.code_first_line + 4);
  if (layout_.code_first_traceable != 0) {
    code.traceable += uint64_t{value_at<uint32_t>(head, layout_.code_first_traceable)} * kUnitBytes;
  }
  return read_text(memory, identity.file, code.file) && read_text(memory, identity.function, code.function) &&
         read_bytes(memory, identity.lines, code.lines);
}

// Reads a str object: its characters follow its header, each in 1, 2 or 4 bytes, depending on the widest character.
bool CodeCache::read_text(RemoteMemory& memory, uint64_t address, std::string& text) const {
  std::array<char, kHeadBytes> head;
  if (layout_.text_ascii > head.size() || !memory.read(address, head.data(), layout_.text_ascii)) return false;
  if (value_at<uint64_t>(head.data(), kTypeAt) != types_.text) return false;
  const auto state = value_at<uint32_t>(head.data(), layout_.text_state);
  const uint32_t width = state >> 2 & 7;
  const bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
  if (!is_compact || (width != 1 && width != 2 && width != 4)) return false;
  const uint64_t length = std::min(value_at<uint64_t>(head.data(), layout_.text_length), kTextMax);
  std::vector<char> bytes(length * width);
  if (!memory.read(address + (is_ascii ? layout_.text_ascii : layout_.text_other), bytes.data(), bytes.size())) {
    return false;
  }
  text = width == 1 ? utf8_of<uint8_t>(bytes) : width == 2 ? utf8_of<uint16_t>(bytes) : utf8_of<uint32_t>(bytes);
  return true;
}

bool CodeCache::read_bytes(RemoteMemory& memory, uint64_t address, std::vector<uint8_t>& bytes) const {
  std::array<char, kHeadBytes> head;
  if (layout_.bytes_data > head.size() || !memory.read(address, head.data(), layout_.bytes_data)) return false;
  if (value_at<uint64_t>(head.data(), kTypeAt) != types_.bytes) return false;
  const auto length = value_at<uint64_t>(head.data(), layout_.size);
  if (length > kLinesMax) return false;
  bytes.resize(length);
  return memory.read(address + layout_.bytes_data, bytes.data(), length);
}

}  // namespace mlrun::python
