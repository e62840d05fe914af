// SPDX-License-Identifier: Apache-2.0
// The library goes into processes and containers of any distribution since glibc 2.28: what it needs is read back.
#include <array>
#include <cstdio>
#include <memory>
#include <regex>
#include <set>
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
  // The versions that it has itself stand in another section, which comes first.
  const std::string all = output_of("readelf -VW " + preload_library());
  const size_t needs = all.find("Version needs section");
  ASSERT_NE(needs, std::string::npos);
  const auto versions = all_matches(all.substr(needs), R"(GLIBC_2\.(\d+))");
  ASSERT_FALSE(versions.empty());
  for (const std::string& minor : versions) EXPECT_LE(std::stoi(minor), 28);
}

// Whatever else it calls of libc might be a function of the program's that has the name, and is not set up yet (own_string.c).
TEST(Linkage, CallsNothingThatAProgramMayHaveOfItsOwn) {
  const std::string symbols = output_of("nm -D --undefined-only " + preload_library());
  const std::set<std::string> known = {
      "_IO_2_1_stderr_",  "_IO_2_1_stdout_", "_IO_list_all",     "_IO_list_lock", "_IO_list_unlock",     "__environ",
      "__errno_location", "__libc_malloc",   "__libc_stack_end", "_r_debug",      "clock_gettime",       "dirfd",
      "environ",          "flockfile",       "funlockfile",      "getauxval",     "mlrun_producer_user", "stdout"};
  const auto needed = all_matches(symbols, R"([Uw] (\w+))");
  ASSERT_FALSE(needed.empty());
  for (const std::string& name : needed) EXPECT_TRUE(known.count(name)) << name;
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
