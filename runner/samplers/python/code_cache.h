// SPDX-License-Identifier: Apache-2.0
// Code objects of one process by their addresses: file, function, location table. Addresses are reused, so the
// identifying fields of a code object are read again and compared at every sample.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/samplers/python/layout.h"
#include "runner/samplers/python/remote_memory.h"

namespace mlrun::python {

// Addresses, in the traced process, of the types of the objects that are read.
struct Types {
  uint64_t code = 0, text = 0, bytes = 0;
};

struct Code {
  std::string file, function;  // UTF-8; invalid bytes of a name unchanged
  std::vector<uint8_t> lines;
  int32_t first_line = 0;
  uint64_t instructions = 0, instruction_bytes = 0;  // address, length
  uint64_t traceable = 0;  // address; while the instruction pointer is below, the function has not begun
  uint32_t slots = 0;      // of its frames: local variables and value stack
};

class CodeCache {
 public:
  CodeCache(const Layout& layout, const Types& types) : layout_(layout), types_(types) {}

  // The code objects at these addresses, in the same order. False: one of them cannot be read, or is not a code object.
  bool find(RemoteMemory& memory, const std::vector<uint64_t>& addresses,
            std::vector<std::shared_ptr<const Code>>& codes);

 private:
  static constexpr size_t kCodesMax = 50'000, kHeadBytes = kHeadBytesMax, kKnownBytesMax = 64 << 20;

  // Fields that distinguish two code objects at the same address.
  struct Identity {
    uint64_t units = 0, file = 0, function = 0, lines = 0;
    int32_t first_line = 0;
    uint32_t version = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Known {
    Identity identity;
    std::shared_ptr<const Code> code;
  };
  bool read_code(RemoteMemory& memory, uint64_t address, const Identity& identity, const char* head, Code& code) const;
  bool read_text(RemoteMemory& memory, uint64_t address, std::string& text) const;
  bool read_bytes(RemoteMemory& memory, uint64_t address, std::vector<uint8_t>& bytes) const;
  [[nodiscard]] Identity identity_of(const char* head) const;

  const Layout& layout_;
  Types types_;
  std::unordered_map<uint64_t, Known> known_;
  size_t known_bytes_ = 0;  // bytes of texts and tables that were read since the cache was emptied
  std::vector<char> heads_;
};

}  // namespace mlrun::python
