// SPDX-License-Identifier: Apache-2.0
// A program or library that may contain CPython: addresses of the runtime and of object types in it. The symbols are in
// .dynsym of every build that can load extension modules; for a file named like Python, .symtab is searched as well.
// The file is untrusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mlrun::python {

// Addresses of the types of iterators; 0: missing.
struct LoopTypes {
  uint64_t range = 0, enumerate = 0, list = 0, tuple = 0, generator = 0, zip = 0, map = 0;

  [[nodiscard]] bool all_known() const {
    return range != 0 && enumerate != 0 && list != 0 && tuple != 0 && generator != 0 && zip != 0 && map != 0;
  }
};

struct InterpreterFile {
  struct Segment {
    uint64_t offset = 0, address = 0;  // offset in the file; address in its program headers
  };
  std::vector<Segment> code;  // executable segments

  // Addresses before relocation, as in the file's headers; 0: missing.
  uint64_t runtime = 0, version = 0;
  uint64_t code_type = 0, text_type = 0, bytes_type = 0;
  LoopTypes loop_types;

  [[nodiscard]] bool is_python() const { return runtime != 0; }
  // The load bias, from an executable mapping of the file. 0 is a valid result, so `found` reports success.
  [[nodiscard]] uint64_t bias(uint64_t mapping_start, uint64_t file_offset, bool& found) const;
};

// Has no symbols if the file is unreadable. `thorough`: also searches .symtab, which may be large.
InterpreterFile read_interpreter_file(const std::string& path, bool thorough);

}  // namespace mlrun::python
