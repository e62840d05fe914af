// SPDX-License-Identifier: Apache-2.0
// Code objects of one process by their addresses: file, function, location table. Addresses are used again, so what
// identifies a code object is read anew at every look and compared.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/samplers/python/layout.h"
#include "runner/samplers/python/remote_memory.h"

namespace mlrun::python {

// Where the types of the objects that are read lie in the process.
struct Types {
  uint64_t code = 0, text = 0, bytes = 0;
};

struct Code {
  std::string file, function;  // UTF-8; bytes of a name that are none as they are
  std::vector<uint8_t> lines;
  int32_t first_line = 0;
  uint64_t instructions = 0, instruction_bytes = 0;  // address, length
  uint64_t traceable = 0;                            // address: before it the function has not begun
};

class CodeCache {
 public:
  CodeCache(const Layout& layout, const Types& types) : layout_(layout), types_(types) {}

  // The code objects at these addresses, in their order; null: there is none. Pointers are valid until the next call.
  bool find(RemoteMemory& memory, const std::vector<uint64_t>& addresses, std::vector<const Code*>& codes);

 private:
  static constexpr size_t kCodesMax = 50'000, kHeadBytes = kHeadBytesMax, kKnownBytesMax = 64 << 20;

  // What two code objects at one address do not have in common.
  struct Identity {
    uint64_t units = 0, file = 0, function = 0, lines = 0;
    int32_t first_line = 0;
    uint32_t version = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Known {
    Identity identity;
    Code code;
  };
  bool read_code(RemoteMemory& memory, uint64_t address, const Identity& identity, const char* head, Code& code) const;
  bool read_text(RemoteMemory& memory, uint64_t address, std::string& text) const;
  bool read_bytes(RemoteMemory& memory, uint64_t address, std::vector<uint8_t>& bytes) const;
  [[nodiscard]] Identity identity_of(const char* head) const;

  const Layout& layout_;
  Types types_;
  std::unordered_map<uint64_t, Known> known_;
  size_t known_bytes_ = 0;  // of texts and tables read since it was empty
  std::vector<char> heads_;
};

}  // namespace mlrun::python
