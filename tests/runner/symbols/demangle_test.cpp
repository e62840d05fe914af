// SPDX-License-Identifier: Apache-2.0
#include "runner/symbols/demangle.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mlrun::symbols {
namespace {

std::string repeated(const std::string& piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

// f(std::pair<int, int>, std::pair of two of these, ...): twice as long with each.
std::string doubling(int times) {
  std::string name = "_Z1fSt4pairIiiE";
  for (int i = 0; i < times; ++i) {
    const std::string before = fmt::format("S{:X}_", i);
    name += "S_I" + before + before + "E";
  }
  return name;
}

TEST(Demangle, NamesOfCppAndRust) {
  EXPECT_EQ(demangled("_Z6kernelIfEvPT_i"), "void kernel<float>(float*, int)");
  EXPECT_EQ(demangled("_Z3runv.constprop.0"), "run() [clone .constprop.0]");
  EXPECT_EQ(demangled("_ZN10tokenizers6encode17h0123456789abcdefE"), "tokenizers::encode");
  EXPECT_EQ(demangled("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
}

TEST(Demangle, WhatIsNoneStays) {
  for (const char* name : {"", "_Z", "_R", "malloc", "_Zzz", "_ZN", "_Z1fSt4pairIi", "Rust"}) {
    EXPECT_EQ(demangled(name), name);
  }
}

// As those of kernels that are made of layers of templates.
TEST(Demangle, NamesOfMoreThanAThousandBytes) {
  const int depth = 400;
  const std::string name = "_Z1k" + repeated("I3Tag", depth) + "i" + repeated("E", depth) + "vi";
  ASSERT_GT(name.size(), 2000);
  EXPECT_EQ(demangled(name).substr(0, 12), "void k<Tag<T") << demangled(name).substr(0, 100);
  const std::string wide = "_Z1kI" + repeated("Li1234567E", 1000) + "Evv";
  EXPECT_EQ(demangled(wide), "void k<" + repeated("1234567, ", 999) + "1234567>()");
}

TEST(Demangle, AShortNameOfAnEndlessOneStays) {
  EXPECT_EQ(demangled(doubling(4)).substr(0, 19), "f(std::pair<int, in");
  for (const int times : {12, 16, 30}) {
    const std::string name = doubling(times);
    EXPECT_EQ(demangled(name), name);
  }
}

// Only that they end is asked for: the deepest that has room.
TEST(Demangle, DeepOnesHaveRoom) {
  for (const char* piece : {"P", "I1a", "N1a", "F", "FvP", "XadL_Z", "DpI", "M1a", "A1_", "ZN", "Dtcl", "L_Z1fI", "J",
                            "cv", "TnT", "fL0p", "U1aI"}) {
    const std::string name = "_Z1f" + repeated(piece, 16000 / std::string(piece).size());
    EXPECT_EQ(demangled(name), name) << piece;
    const std::string whole = name + "i" + std::string(100, 'E');
    EXPECT_LE(demangled(whole).size(), kDemangledBytesMax) << piece;
  }
  const std::string longer = "_Z1f" + repeated("P", 20000) + "i";
  EXPECT_EQ(demangled(longer), longer);
}

}  // namespace
}  // namespace mlrun::symbols
