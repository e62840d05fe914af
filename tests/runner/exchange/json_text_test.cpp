// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/json_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::exchange {
namespace {

template <typename Value>
std::string json_of(Value value) {
  std::string text;
  append_json(text, value);
  return text;
}

TEST(JsonTextTest, EveryCharacterComesBack) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += char(c);
  all += "\u00e9\u2028\u202e\U0001f600";
  EXPECT_EQ(nlohmann::json::parse(json_of(std::string_view(all))).get<std::string>(), all);
}

TEST(JsonTextTest, BytesThatAreNotUtf8AreEscapedAsInTheTables) {
  for (int byte = 0x80; byte < 0x100; ++byte) {
    const std::string text = {'a', char(byte), 'b'};
    char escape[5];
    std::snprintf(escape, sizeof(escape), "\\x%02x", unsigned(byte));
    EXPECT_EQ(nlohmann::json::parse(json_of(std::string_view(text))).get<std::string>(),
              "a" + std::string(escape) + "b");
  }
}

TEST(JsonTextTest, ANumberThatADoubleDoesNotHoldIsAText) {
  constexpr int64_t kExact = int64_t{1} << 53;
  EXPECT_EQ(json_of(kExact), "9007199254740992");
  EXPECT_EQ(json_of(kExact + 1), "\"9007199254740993\"");
  EXPECT_EQ(json_of(-kExact - 1), "\"-9007199254740993\"");
  EXPECT_EQ(json_of(INT64_MIN), "\"-9223372036854775808\"");
  EXPECT_EQ(json_of(int64_t{0}), "0");
}

TEST(JsonTextTest, MicrosecondsHaveThreeDecimals) {
  const auto text_of = [](int64_t ns) {
    std::string text;
    append_microseconds(text, ns);
    return text;
  };
  EXPECT_EQ(text_of(0), "0.000");
  EXPECT_EQ(text_of(7), "0.007");
  EXPECT_EQ(text_of(1'234'567'890), "1234567.890");
  EXPECT_EQ(text_of(-1'005), "-1.005");
}

}  // namespace
}  // namespace mlrun::exchange
