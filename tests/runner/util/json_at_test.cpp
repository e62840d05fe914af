// SPDX-License-Identifier: Apache-2.0
#include "runner/util/json_at.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::util {
namespace {

TEST(JsonText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(json_text(nlohmann::json{{"b", 1}, {"a", "\xff"}}), "{\"a\":\"\xef\xbf\xbd\",\"b\":1}");
  EXPECT_EQ(json_text(nlohmann::ordered_json{{"b", 1}, {"a", 2}}, 1), "{\n \"b\": 1,\n \"a\": 2\n}");
}

}  // namespace
}  // namespace mlrun::util
