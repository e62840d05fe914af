// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/payload_layout.h"

#include <random>
#include <span>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::trace {
namespace {

std::string reported(const std::string& layout, const std::string& bytes) {
  const auto parsed = PayloadLayout::parse(layout);
  return parsed ? payload_json(parsed->values(bytes)).dump() : "refused";
}

TEST(PayloadLayout, PlacesMembersAsACompilerDoes) {
  // char, int, short, long long; one offset is explicit.
  const std::string layout = "1 24 0\nF 0 1 0 0 0 a\nF 0 5 0 0 0 b\nF 0 3 0 0 0 c\nF 0 9 0 16 0 d\n";
  std::string bytes(24, '\0');
  bytes[0] = -1;
  bytes[4] = 2;
  bytes[8] = 3;
  bytes[16] = 4;
  EXPECT_EQ(reported(layout, bytes), R"({"a":-1,"b":2,"c":3,"d":4})");
  EXPECT_EQ(reported("1 0 1\nF 0 1 0 0 0 a\nF 0 6 0 0 0 packed\n", std::string("\x01\x02\0\0\0", 5)),
            R"({"a":1,"packed":2})");
}

TEST(PayloadLayout, NamesTheValuesOfAnEnumeration) {
  const std::string layout = "1 8 0\nF 0 16777240 0 0 4 op\nV 0 Sum\nV 2 Max of all\nF 0 16777240 0 4 4 own\nV 0 Sum\n";
  EXPECT_EQ(reported(layout, std::string("\x02\0\0\0\x07\0\0\0", 8)), R"({"op":"Max of all","own":7})");
}

TEST(PayloadLayout, LeavesOutMembersBeyondTheBytes) {
  const std::string layout = "1 8 0\nF 0 6 0 0 0 in\nF 0 6 0 5 0 half\nF 0 6 0 18446744073709551613 0 far\n";
  EXPECT_EQ(reported(layout, std::string("\x01\0\0\0\0\0\0\0", 8)), R"({"in":1})");
  EXPECT_EQ(reported(layout, ""), "{}");
  EXPECT_EQ(PayloadLayout::parse(layout)->left_out(), 1u);
}

TEST(PayloadLayout, ContinuesOnlyAfterAnArrayOfKnownLength) {
  const std::string bytes = std::string(12, '\x05');
  EXPECT_EQ(reported("1 0 0\nF 16 6 2 0 0 two\nF 0 2 0 0 0 next\n", bytes), R"({"next":5})");
  EXPECT_EQ(reported("2 0 0\nF 48 6 0 0 0 some\nF 0 2 0 0 0 next\nF 0 2 0 9 0 told\n", bytes), R"({"told":5})");
  EXPECT_EQ(reported("1 0 0\nF 16 6 18446744073709551615 0 0 endless\nF 0 2 0 0 0 next\n", bytes), "{}");
  EXPECT_EQ(reported("1 0 0\nF 0 16777217 0 0 0 nested\nV 5 no value of it\nF 0 2 0 8 0 told\n", bytes),
            R"({"told":5})");
}

TEST(PayloadLayout, ReadsRealNumbers) {
  const double real = 2.5;
  std::string bytes(8, '\0');
  __builtin_memcpy(bytes.data(), &real, sizeof real);
  EXPECT_EQ(reported("1 0 0\nF 0 20 0 0 0 real\n", bytes), R"({"real":2.5})");
}

TEST(PayloadLayout, RefusesAnInvalidLayout) {
  for (const char* text : {"", "\n", "1", "1 2", "x 0 0\n", "3 0 0\n", "99999999999999999999 0 0\n", "1 0 0\nG 1\n",
                           "1 0 0\nF 1 2\n", "1 0 0\nF 0 1 0 0 -1 a\n", "1 0 0\nV x a\n"}) {
    EXPECT_FALSE(PayloadLayout::parse(text)) << text;
  }
  EXPECT_TRUE(PayloadLayout::parse("1 0 0\n"));
}

TEST(PayloadLayout, RefusesWhatIsTooLarge) {
  const auto layout = [](size_t members, const std::string& name) {
    std::string text = "1 0 0\n";
    for (size_t i = 0; i < members; ++i) text += "F 0 2 0 0 0 " + name + "\n";
    return text;
  };
  EXPECT_TRUE(PayloadLayout::parse(layout(256, "name")));
  EXPECT_FALSE(PayloadLayout::parse(layout(257, "")));
  EXPECT_FALSE(PayloadLayout::parse(layout(1, std::string(20'000, 'x'))));
}

TEST(PayloadLayout, ReturnsHowManyMembersFit) {
  const auto layout =
      PayloadLayout::parse("1 0 0\nF 0 2 0 0 0 a\nF 0 16777240 0 1 1 op\nV 1 \"\\\x01\nF 0 2 0 0 0 c\n");
  const std::string bytes = "\x01\x01\x01";
  const auto values = layout->values(bytes);
  for (size_t room = 0; room < 200; ++room) {
    const size_t fit = payload_that_fits(values, room);
    EXPECT_LE(fit == 0 ? 0 : payload_json(std::span(values).first(fit)).dump().size(), room);
  }
  EXPECT_EQ(payload_that_fits(values, 200), values.size());
  EXPECT_EQ(payload_that_fits(values, 20), 0u);
}

// Whatever a program registers and hands over: nothing is read outside of the bytes (run with the sanitizers).
TEST(PayloadLayout, SurvivesRandomInput) {
  std::mt19937_64 random(1);
  const uint64_t odd[] = {0, 1, 2, 4, 8, 15, 16, 17, 48, 75, 255, 1u << 20, 1u << 24, UINT64_MAX, UINT64_MAX / 2};
  const auto pick = [&] { return std::to_string(random() % 3 == 0 ? random() % 64 : odd[random() % std::size(odd)]); };
  for (int round = 0; round < 20'000; ++round) {
    std::string text = std::to_string(1 + random() % 2) + " 0 " + pick() + "\n";
    for (uint64_t members = random() % 6; members > 0; --members) {
      text += "F " + pick() + " " + pick() + " " + pick() + " " + pick() + " " + pick() + " name\n";
      if (random() % 4 == 0) text += "V " + pick() + " value\n";
    }
    const auto layout = PayloadLayout::parse(text);
    ASSERT_TRUE(layout) << text;
    const std::string bytes(random() % 32, '\x7f');
    for (const PayloadValue& value : layout->values(bytes)) {
      EXPECT_LE(value.member->offset + value.member->width, bytes.size()) << text;
    }
  }
}

}  // namespace
}  // namespace mlrun::trace
