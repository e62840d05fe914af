// SPDX-License-Identifier: Apache-2.0
#include "runner/symbols/demangle.h"

#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::symbols {
namespace {

std::string repeated(const std::string& piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

// The ABI's reference to what stood before: S_, S0_ to SZ_, S10_ and so on.
std::string substitution(size_t number) {
  if (number == 0) return "S_";
  std::string digits;
  for (size_t rest = number - 1; digits.empty() || rest > 0; rest /= 36) {
    digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest % 36]);
  }
  return "S" + digits + "_";
}

// f(std::pair<int, int>, std::pair of two of these, ...): twice as long with each.
std::string doubling(size_t times) {
  std::string name = "_Z1fSt4pairIiiE";
  for (size_t i = 1; i <= times; ++i) name += "S_I" + substitution(i) + substitution(i) + "E";
  return name;
}

TEST(Demangle, NamesOfCppAndRustAreReadable) {
  EXPECT_EQ(demangled("_Z6kernelIfEvPT_i"), "void kernel<float>(float*, int)");
  EXPECT_EQ(demangled("_Z3runv.constprop.0"), "run() [clone .constprop.0]");
  EXPECT_EQ(demangled("_ZN10tokenizers6encode17h0123456789abcdefE"), "tokenizers::encode");
  EXPECT_EQ(demangled("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
}

TEST(Demangle, OtherNamesAreUnchanged) {
  const size_t given_up = names_given_up();
  for (const char* name : {"", "_Z", "_R", "malloc", "_Zzz", "_ZN", "_Z1fSt4pairIi", "Rust"}) {
    EXPECT_EQ(demangled(name), name);
  }
  EXPECT_EQ(names_given_up(), given_up);
}

// As those of kernels that are made of layers of templates.
TEST(Demangle, NamesOfMoreThanAThousandBytesAreWhole) {
  const size_t deep = 400, wide = 1000;
  const std::string layers = "_Z1kI" + repeated("3TagI", deep) + "i" + repeated("E", deep + 1) + "vi";
  EXPECT_EQ(demangled(layers), "void k<" + repeated("Tag<", deep) + "int" + repeated(" >", deep).substr(1) + " >(int)")
      << layers.size();
  const std::string values = "_Z1kI" + repeated("Li1234567E", wide) + "Evv";
  EXPECT_EQ(demangled(values), "void k<" + repeated("1234567, ", wide - 1) + "1234567>()");
}

TEST(Demangle, NamesThatWouldBeTooLongAreUnchanged) {
  EXPECT_EQ(demangled(doubling(2)),
            "f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> >, "
            "std::pair<std::pair<std::pair<int, int>, std::pair<int, int> >, "
            "std::pair<std::pair<int, int>, std::pair<int, int> > >)");
  EXPECT_GT(demangled(doubling(8)).size(), 2000);
  for (const size_t times : {16, 40}) EXPECT_EQ(demangled(doubling(times)), doubling(times));
  const std::string longest = "_Z1kI" + repeated("Li1234567890E", kMangledBytesMax / 13) + "Evv";
  ASSERT_GT(longest.size(), kMangledBytesMax);
  EXPECT_EQ(demangled(longest), longest);
}

// The processes that this one has begun: the one that reads names.
std::string readers() {
  std::string pids;
  std::getline(std::ifstream("/proc/thread-self/children"), pids);
  return pids;
}

// A name that overflows the stack, and then a normal one.
TEST(Demangle, ANameThatCrashesTheDemanglerIsUnchanged) {
  const std::string group = "1bI" + repeated("1aIiE", 250) + repeated("RT_", 250) + "E";
  const std::string name = "_Z1fIiEv1cI" + repeated(group, 5) + "E" + substitution(2 + 5 * (1 + 250 * 2 + 250 * 2 + 1));
  ASSERT_LT(name.size(), 12288);
  EXPECT_EQ(demangled("_Z3runv"), "run()");
  const std::string before = readers();
  const size_t given_up = names_given_up();
  EXPECT_EQ(demangled(name), name);
  EXPECT_EQ(names_given_up(), given_up + 1);
  EXPECT_EQ(demangled("_Z3runv"), "run()");
  EXPECT_NE(readers(), before);
}

TEST(Demangle, ANameThatTakesTooLongIsUnchanged) {
  const auto began = std::chrono::steady_clock::now();
  const std::string endless = "_RNvC1a1bINtC1c1dFGzzzzzzz_EuE";
  const size_t given_up = names_given_up();
  EXPECT_EQ(demangled(endless), endless);
  EXPECT_EQ(names_given_up(), given_up + 1);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(10 * kAnswerMs));
  EXPECT_EQ(demangled("_Z3runv"), "run()");
}

TEST(Demangle, SeveralThreadsHaveTheirAnswers) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      const std::string name = "thread" + std::to_string(i);
      for (int turn = 0; turn < 200; ++turn) EXPECT_EQ(demangled("_Z7" + name + "v"), name + "()");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace mlrun::symbols
