// SPDX-License-Identifier: Apache-2.0
#include "runner/view/where.h"

#include <gtest/gtest.h>

namespace mlrun::view {
namespace {

TEST(WhereTest, TakesComparisonsApart) {
  const auto parsed = parse_where("func = read and dur>=1.5ms and path ~ '/data and more/'");
  ASSERT_TRUE(parsed) << parsed.error().text;
  ASSERT_EQ(parsed->size(), 3u);
  EXPECT_EQ((*parsed)[0].column, "func");
  EXPECT_EQ((*parsed)[0].op, Operator::kEqual);
  EXPECT_EQ((*parsed)[0].value, "read");
  EXPECT_EQ((*parsed)[1].op, Operator::kGreaterOrEqual);
  EXPECT_EQ((*parsed)[1].value, "1.5ms");
  EXPECT_EQ((*parsed)[2].op, Operator::kContains);
  EXPECT_EQ((*parsed)[2].value, "/data and more/");
  EXPECT_TRUE((*parsed)[2].quoted);
}

TEST(WhereTest, LetsAValueHaveSeveralWords) {
  const auto parsed = parse_where("command ~ train.py --epochs 2 and pid != 7");
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)[0].value, "train.py --epochs 2");
  EXPECT_EQ((*parsed)[1].op, Operator::kNotEqual);
}

TEST(WhereTest, DoesNotTakeAWordThatBeginsWithAndForTheWordAnd) {
  const auto parsed = parse_where("path ~ a android b and comm = and");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->size(), 2u);
  EXPECT_EQ((*parsed)[0].value, "a android b");
  EXPECT_EQ((*parsed)[1].value, "and");
}

TEST(WhereTest, KnowsEveryOperator) {
  for (const auto& [text, op] :
       std::initializer_list<std::pair<const char*, Operator>>{{"=", Operator::kEqual},
                                                               {"==", Operator::kEqual},
                                                               {"!=", Operator::kNotEqual},
                                                               {"<", Operator::kLess},
                                                               {"<=", Operator::kLessOrEqual},
                                                               {">", Operator::kGreater},
                                                               {">=", Operator::kGreaterOrEqual},
                                                               {"~", Operator::kContains}}) {
    const auto parsed = parse_where(std::string("a") + text + "1");
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->front().op, op) << text;
    EXPECT_EQ(parsed->front().value, "1") << text;
  }
}

TEST(WhereTest, ShowsWhereParsingStopped) {
  for (const char* text :
       {"", "dur", "dur >", "dur > 1 and", "= 3", "dur ? 3", "path = 'open", "a = 'b' or c = d", "a = 1 and  "}) {
    const auto parsed = parse_where(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().text.find("--where: "), std::string::npos);
    EXPECT_NE(parsed.error().text.find("write comparisons such as"), std::string::npos) << parsed.error().text;
  }
}

TEST(WhereTest, OrIsRefusedAndNotTakenForAValue) {
  const auto parsed = parse_where("func = read or func = write");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().text.find("`or` is not known"), std::string::npos) << parsed.error().text;
  const auto quoted = parse_where("path ~ 'this or that'");
  ASSERT_TRUE(quoted);
  EXPECT_EQ((*quoted)[0].value, "this or that");
  EXPECT_TRUE(parse_where("path ~ orange"));
}

}  // namespace
}  // namespace mlrun::view
