// SPDX-License-Identifier: Apache-2.0
// The library is loaded in processes and containers of any distribution since glibc 2.28: tests the symbols that it
// needs.
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  for (size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) text.append(buffer.data(), n);
  return text;
}

std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

TEST(Linkage, NeedsNothingButLibc) {
  const std::string dynamic = output_of("readelf -dW " + preload_library());
  EXPECT_EQ(all_matches(dynamic, R"(\(NEEDED\).*\[(.*)\])"), std::vector<std::string>{"libc.so.6"});
  EXPECT_NE(dynamic.find("INITFIRST"), std::string::npos);
  EXPECT_NE(dynamic.find("NOW"), std::string::npos);
  EXPECT_EQ(dynamic.find("TEXTREL"), std::string::npos);
}

TEST(Linkage, NeedsNoSymbolNewerThanGlibc228) {
  // The library's own versions are in another section, which comes first.
  const std::string all = output_of("readelf -VW " + preload_library());
  const size_t needs = all.find("Version needs section");
  ASSERT_NE(needs, std::string::npos);
  const auto versions = all_matches(all.substr(needs), R"(GLIBC_2\.(\d+))");
  ASSERT_FALSE(versions.empty());
  for (const std::string& minor : versions) EXPECT_LE(std::stoi(minor), 28);
}

// A symbol that stays undefined is bound by name, to whatever object of the program has that name first: a library that the
// program brings may export a function of its own, or a part of libc's (an allocator exports __libc_malloc). So functions
// are looked up in libc itself (LIBC in real_function.h) or are this library's own (own_string.c, own_errno.c), and what is
// undefined is listed here with the reason why it may be.
using Allowed = std::map<std::string, std::string>;

void expect_only(const std::string& library, const Allowed& allowed) {
  for (const std::string& name : all_matches(output_of("nm -D --undefined-only " + library), R"([UwvV] (\w+))")) {
    EXPECT_TRUE(allowed.count(name)) << library << " leaves " << name << " to whichever object has it first";
  }
}

TEST(Linkage, BindsNoNameThatAProgramMayDefineItself) {
  const std::string by_libc =
      "libc refers to it by name as well, so this is the one that libc uses, a program's copy included";
  expect_only(preload_library(),
              {{"__environ", by_libc},
               {"environ", "another name of __environ's place, added by the linker; not referred to"},
               {"_environ", "as environ"},
               {"stdout", by_libc},
               {"_IO_2_1_stdout_", by_libc},
               {"_IO_2_1_stderr_", by_libc},
               {"__libc_stack_end", by_libc},
               {"_r_debug", "the dynamic linker's word to debuggers, by which libc itself is found"},
               {"mlrun_producer_user", "of our own libmlrun_cupti.so"},
               {"mlrun_placement_view", "of our own libmlrun_placement.so"}});
}

TEST(Linkage, TheLibraryForGpusBindsNoNameThatAProgramMayDefineItself) {
  expect_only(cupti_library(), {{"free", "frees blocks of the program's, so it is the program's"},
                                {"mlrun_producer", "of libmlrun_preload.so"}});
}

TEST(Linkage, TheLibraryForPlacementNeedsNothingButOldLibcAndBindsNothingOfAProgram) {
  const std::string library = placement_library(), dynamic = output_of("readelf -dW " + library);
  EXPECT_EQ(all_matches(dynamic, R"(\(NEEDED\).*\[(.*)\])"), std::vector<std::string>{"libc.so.6"});
  EXPECT_EQ(dynamic.find("TEXTREL"), std::string::npos);
  for (const std::string& minor : all_matches(output_of("readelf -VW " + library), R"(GLIBC_2\.(\d+))")) {
    EXPECT_LE(std::stoi(minor), 28);
  }
  const std::string same = "as in libmlrun_preload.so";
  expect_only(library, {{"__environ", same},
                        {"environ", same},
                        {"_environ", same},
                        {"__libc_stack_end", same},
                        {"_r_debug", same},
                        {"mlrun_producer_user", "of our own libmlrun_cupti.so"}});
}

TEST(Linkage, ThreadLocalStorageIsSmallAndInitialExec) {
  const auto sizes =
      all_matches(output_of("readelf -lW " + preload_library()), R"(TLS\s+0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x(\w+))");
  ASSERT_EQ(sizes.size(), 1);
  EXPECT_LE(std::stoi(sizes[0], nullptr, 16), 256);
  EXPECT_TRUE(all_matches(output_of("readelf -rW " + preload_library()), "(R_X86_64_DTPMOD64)").empty());
}

}  // namespace
}  // namespace mlrun::preload_test
