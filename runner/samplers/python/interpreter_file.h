// SPDX-License-Identifier: Apache-2.0
// A program or library that may hold CPython: where in it the runtime and the types of objects lie. The symbols are in
// .dynsym of every build that can load extension modules; of a file that is called Python .symtab is looked at as well.
// The file may be anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mlrun::python {

struct InterpreterFile {
  struct Segment {
    uint64_t offset = 0, address = 0;  // in the file; as the file's own headers count
  };
  std::vector<Segment> code;  // the executable ones

  // As the file's own headers count; 0: not there.
  uint64_t runtime = 0, version = 0;
  uint64_t code_type = 0, text_type = 0, bytes_type = 0;

  [[nodiscard]] bool is_python() const { return runtime != 0; }
  // What the process added to addresses, by an executable mapping of the file. 0 is a possible answer: `found` tells.
  [[nodiscard]] uint64_t bias(uint64_t mapping_start, uint64_t file_offset, bool& found) const;
};

// Without symbols where the file cannot be read. `thorough`: .symtab, too, which may be large.
InterpreterFile read_interpreter_file(const std::string& path, bool thorough);

}  // namespace mlrun::python
