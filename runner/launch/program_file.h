// SPDX-License-Identifier: Apache-2.0
// Examines the command's file: whether the library can be loaded into it, and which runtime must precede it. (For
// programs that traced processes execute, the library does this.)
#pragma once

#include <string>
#include <string_view>

namespace mlrun::launch {

struct ProgramFile {
  bool can_be_preloaded = true;   // false: its dynamic linker would complain about our library
  std::string sanitizer_runtime;  // a library that must be first; empty: none
};

// Whether the file name is that of a sanitizer's runtime, which must be the first library.
bool is_sanitizer_runtime(std::string_view name);

// The path that execvp finds; empty: none. `path`: the variable PATH; nullptr: this process's.
std::string find_program(const std::string& name, const char* path = nullptr);

// A missing script interpreter or dynamic linker, for which exec reports ENOENT as if the program were missing. Empty:
// not the case.
std::string missing_interpreter(const std::string& name, const char* path = nullptr);

// Searches `name` in PATH as execvp does; a script is judged by its interpreter. An unreadable file counts as an
// ordinary program.
ProgramFile look_at_program(const std::string& name);

}  // namespace mlrun::launch
