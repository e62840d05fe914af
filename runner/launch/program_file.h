// SPDX-License-Identifier: Apache-2.0
// A look at the file of the command: whether the library can be loaded into it at all, and what must come before it. (What
// traced programs execute, the library looks at itself.)
#pragma once

#include <string>

namespace mlrun::launch {

struct ProgramFile {
  bool can_be_preloaded = true;   // false: its dynamic linker would complain about our library
  std::string sanitizer_runtime;  // a library that insists on being the first of all; empty: none
};

// Where execvp finds the program; empty: nowhere.
std::string find_program(const std::string& name);

// The interpreter of a script, or the dynamic linker of a program, that is not there: exec says then that the program itself is
// not. Empty: that is not so.
std::string missing_interpreter(const std::string& name);

// `name` is looked for in PATH as execvp does; scripts are judged by their interpreter. What cannot be read is taken for an
// ordinary program.
ProgramFile look_at_program(const std::string& name);

}  // namespace mlrun::launch
