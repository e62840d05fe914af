// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/interpreter_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace mlrun {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class InterpreterFile : public ::testing::Test {
 protected:
  python::InterpreterFile look(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return python::read_interpreter_file(path_, true);
  }
  ~InterpreterFile() override { std::filesystem::remove(path_); }

  std::string path_ = ::testing::TempDir() + "interpreter_file_" + std::to_string(::getpid());
};

TEST_F(InterpreterFile, OtherFilesAreNotPython) {
  EXPECT_FALSE(python::read_interpreter_file("/does/not/exist", true).is_python());
  EXPECT_FALSE(python::read_interpreter_file("/proc/self/exe", true).is_python());
  EXPECT_FALSE(python::read_interpreter_file("/dev/null", true).is_python());
  EXPECT_FALSE(look("").is_python());
  EXPECT_FALSE(look("#!/bin/sh\n").is_python());
}

// Damage in the header, which has the offsets of all tables, and anywhere else.
TEST_F(InterpreterFile, DamagedOnesAreReadWithoutHarm) {
  const std::string whole = read("/proc/self/exe");
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = whole.substr(0, i % 2 == 0 ? whole.size() : random() % whole.size());
    for (int k = 0; k < 20 && !bytes.empty(); ++k) {
      bytes[random() % std::min<size_t>(bytes.size(), 1024)] = static_cast<char>(random());
    }
    look(bytes);
  }
}

TEST_F(InterpreterFile, AMappingGivesTheBiasOfAddresses) {
  python::InterpreterFile file;
  file.code = {{0x1000, 0x401000}, {0x5080, 0x406080}};
  bool found = false;
  EXPECT_EQ(file.bias(0x7f0000001000, 0x1000, found), 0x7f0000001000 - 0x401000);
  EXPECT_TRUE(found);
  EXPECT_EQ(file.bias(0x7f0000005000, 0x5000, found), 0x7f0000005000 - 0x406000);
  EXPECT_TRUE(found);
  EXPECT_EQ(file.bias(0x7f0000001000, 0x2000, found), 0u);
  EXPECT_FALSE(found);
}

}  // namespace
}  // namespace mlrun
