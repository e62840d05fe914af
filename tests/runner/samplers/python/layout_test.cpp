// SPDX-License-Identifier: Apache-2.0
// Tests the debug offsets of CPython, copied from real interpreters; the words after the texts are left out.
#include "runner/samplers/python/layout.h"

#include <unistd.h>

#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::python {
namespace {

using Words = std::vector<uint64_t>;

constexpr uint32_t k3_13 = 0x030d00f0, k3_14 = 0x030e08f0, k3_15 = 0x030f00f0;

// _Py_DebugOffsets behind the cookie.
const Words kTold313 = {0,  283320, 608,  632, 194968, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16,  7752,
                        0,  7768,   7760, 304, 0,      8,    16,   72,   152,  160,  232,  32,   80,  8,
                        0,  56,     72,   70,  208,    112,  120,  128,  136,  68,   52,   96,   104, 200,
                        16, 8,      416,  24,  88,     168,  32,   24,   16,   40,   24,   16,   48,  32,
                        40, 24,     16,   32,  16,     24,   40,   16,   32,   64,   32,   16,   40};
const Words kTold314 = {0,    316616, 784,  808, 225864, 7280, 7272, 7344, 7360, 7408, 7688, 7672, 7680, 16,  7784, 0,
                        7800, 7792,   7992, 0,   832,    0,    8,    16,   72,   152,  160,  232,  32,   88,  8,    0,
                        56,   80,     74,   64,  0,      216,  112,  120,  128,  136,  68,   52,   96,   104, 208,  0,
                        16,   8,      416,  24,  88,     168,  40,   32,   16,   40,   24,   16,   200,  24,  40,   32,
                        48,   32,     40,   24,  16,     32,   16,   24,   40,   16,   32,   64,   32,   16,  40};
const Words kTold315 = {0,    346568, 912,  936, 226240, 7272, 7264, 7336, 7352, 7400, 7592, 7576, 7584, 16,  7736, 0,
                        7752, 7744,   7944, 0,   888,    0,    8,    16,   72,   80,   88,   96,   176,  184, 256,  32,
                        36,   40,     136,  288, 0,      88,   8,    0,    56,   80,   74,   64,   0,    216, 112,  120,
                        128,  136,    68,   52,  96,     104,  208,  0,    16,   8,    424,  24,   88,   168, 32,   288,
                        944,  888,    40,   32,  16,     40,   24,   16,   200,  24,   40,   32,   48,   32,  40,   24,
                        16,   32,     16,   24,  40,     16,   32,   64,   32,   16,   40};

class LayoutTest : public ::testing::Test {
 protected:
  // As a process has them.
  static Words words_of(uint32_t version, const Words& reported) {
    Words words(2);
    std::memcpy(words.data(), "xdebugpy", 8);
    words[1] = version;
    words.insert(words.end(), reported.begin(), reported.end());
    return words;
  }
  Result<Layout> layout(uint32_t version, const Words& words) {
    return layout_of(version, reinterpret_cast<uint64_t>(words.data()), memory_);
  }

  RemoteMemory memory_{static_cast<uint32_t>(::getpid())};
};

TEST_F(LayoutTest, VersionsThatAreNotKnownAreNamed) {
  for (const uint32_t version : {0x030a0df0u, 0x031000f0u, 0x040000f0u, 0x030c00b1u, 0x030e00b1u}) {
    const auto refused = layout_of(version, 0, memory_);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find(version_text(version)), std::string::npos) << refused.error().text;
    EXPECT_NE(refused.error().text.find(kKnownVersions), std::string::npos) << refused.error().text;
  }
}

// The headers of 3.14.10 and 3.15.2, by offsetof.
TEST_F(LayoutTest, EveryVersionHasItsOwnOrderOfWords) {
  for (const auto& [version, reported, native_id, chunk, interpreters] :
       {std::tuple(k3_14, &kTold314, 160, 232, 808), std::tuple(k3_15, &kTold315, 184, 256, 936)}) {
    const auto found = layout(version, words_of(version, *reported));
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(found->interpreters_head, uint64_t(interpreters));
    EXPECT_EQ(found->thread_next, 8u);
    EXPECT_EQ(found->thread_frame, 72u);
    EXPECT_EQ(found->thread_native_id, uint64_t(native_id));
    EXPECT_EQ(found->thread_chunk, uint64_t(chunk));
    EXPECT_EQ(found->frame_code, 0u);
    EXPECT_EQ(found->frame_previous, 8u);
    EXPECT_EQ(found->frame_instruction, 56u);
    EXPECT_EQ(found->frame_owner, 74u);
    EXPECT_EQ(found->frame_bytes, 80u);
    EXPECT_EQ(found->frame_code_tags, 1u);
    EXPECT_EQ(found->code_file, 112u);
    EXPECT_EQ(found->code_function, 128u);
    EXPECT_EQ(found->code_lines, 136u);
    EXPECT_EQ(found->code_first_line, 68u);
    EXPECT_EQ(found->code_version, 92u);
    EXPECT_EQ(found->code_first_traceable, 192u);
    EXPECT_EQ(found->code_instructions, 208u);
    EXPECT_EQ(found->text_ascii, 40u);
    EXPECT_EQ(found->text_other, 56u);
    EXPECT_EQ(found->bytes_data, 32u);
  }
  const auto older = layout(k3_13, words_of(k3_13, kTold313));
  ASSERT_TRUE(older);
  EXPECT_EQ(older->code_instructions, 200u);
  EXPECT_EQ(older->code_first_traceable, 184u);
  EXPECT_EQ(older->frame_code_tags, 0u);
}

// Read in the order of another version they would be wrong in a way that nothing shows.
TEST_F(LayoutTest, WordsOfAnotherVersionAreRefused) {
  EXPECT_FALSE(layout(k3_14, words_of(k3_15, kTold315)));
  EXPECT_FALSE(layout(k3_15, words_of(k3_14, kTold314)));
  EXPECT_FALSE(layout(k3_13, Words(71, 0)));
}

TEST_F(LayoutTest, ABuildWithoutTheGlobalLockIsNamed) {
  Words words = words_of(k3_14, kTold314);
  words[2] = 1;
  const auto refused = layout(k3_14, words);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "Python 3.14.8 is a build without the global lock");
}

// A process can write there what it likes.
TEST_F(LayoutTest, OffsetsBeyondAnObjectAreRefused) {
  const std::pair<uint32_t, const Words*> versions[] = {{k3_13, &kTold313}, {k3_14, &kTold314}, {k3_15, &kTold315}};
  for (const auto& [version, reported] : versions) {
    EXPECT_FALSE(
        layout(version, words_of(version, Words(reported->size(), 0))));  // nothing lies in an object of no bytes
    size_t refused_near = 0;
    for (size_t i = 3; i < reported->size(); ++i) {
      Words words = words_of(version, *reported);
      words[2 + i] = ~uint64_t{0};
      EXPECT_FALSE(layout(version, words)) << version << " " << i;
      words[2 + i] = 5000;
      if (!layout(version, words)) ++refused_near;
    }
    EXPECT_EQ(refused_near, 15u);  // of a frame 5, a code object 5, bytes 2, a text 3
  }
}

}  // namespace
}  // namespace mlrun::python
