// SPDX-License-Identifier: Apache-2.0
// A plug-in in C++: allocates, reads a file by a stream, throws and catches, and calls its helper library, which is to be
// found by this library's RUNPATH.
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int helper_answer(void);

static int may_throw(int value) {
  if (value < 0) throw std::runtime_error("negative " + std::to_string(value));
  return value;
}

extern "C" long plugin_run(const char *path) {
  std::vector<char> block(5000 + static_cast<size_t>(helper_answer()));
  std::ifstream file(path, std::ios::binary);
  file.read(block.data(), static_cast<std::streamsize>(block.size()));
  try {
    return may_throw(-static_cast<int>(file.gcount()));
  } catch (const std::exception &error) {
    return static_cast<long>(std::string(error.what()).size()) * 100 + helper_answer();
  }
}
