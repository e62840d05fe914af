// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/links.h"

#include <set>

#include <gtest/gtest.h>

namespace mlrun::exchange {
namespace {

using Arrows = std::vector<uint64_t>;

TEST(LinksTest, EachArrowHasOneNumberAtBothEndsBelow2To53) {
  Links links;
  for (int64_t id = 1; id <= 3000; ++id) {
    for (int64_t i = 0; i < id % 4; ++i) links.expect(Link::kLaunch, id % 2 + 1, id << 20);
  }
  std::set<uint64_t> begun, ended;
  for (int64_t id = 1; id <= 3000; ++id) {
    Arrows out, in;
    links.begin(Link::kLaunch, id % 2 + 1, id << 20, out);
    EXPECT_EQ(out.size(), size_t(id % 4));
    for (int64_t i = 0; i < id % 4; ++i) links.end(Link::kLaunch, id % 2 + 1, id << 20, in);
    EXPECT_EQ(std::set(out.begin(), out.end()), std::set(in.begin(), in.end()));
    begun.insert(out.begin(), out.end());
    ended.insert(in.begin(), in.end());
  }
  EXPECT_EQ(begun.size(), size_t(links.drawn()));
  EXPECT_EQ(begun, ended);
  EXPECT_LT(*begun.rbegin(), uint64_t{1} << 53);
  EXPECT_EQ(links.not_drawn(), 0);
}

TEST(LinksTest, OneThatComesBeforeTheRowItRefersToHasNone) {
  Links links;
  links.expect(Link::kCall, 0, 5);
  links.expect(Link::kCall, 0, 5);
  Arrows in, out;
  links.end(Link::kCall, 0, 5, in);
  EXPECT_TRUE(in.empty());
  links.begin(Link::kCall, 0, 5, out);
  EXPECT_EQ(out.size(), 1u);
  links.end(Link::kCall, 0, 5, in);
  EXPECT_EQ(in, out);
  EXPECT_EQ(links.drawn(), 1);
  EXPECT_EQ(links.not_drawn(), 1);
}

TEST(LinksTest, ManyOfOneRowAreCounted) {
  Links links;
  constexpr int64_t kAll = 20000, kMost = 16383;
  for (int64_t i = 0; i < kAll; ++i) links.expect(Link::kRequest, 0, 1);
  Arrows out, in;
  links.begin(Link::kRequest, 0, 1, out);
  for (int64_t i = 0; i < kAll; ++i) links.end(Link::kRequest, 0, 1, in);
  EXPECT_EQ(out.size(), size_t(kMost));
  EXPECT_EQ(links.drawn(), kMost);
  EXPECT_EQ(links.not_drawn(), kAll - kMost);
  EXPECT_EQ(std::set(out.begin(), out.end()), std::set(in.begin(), in.end()));
}

TEST(LinksTest, NoneGoesIntoTheNextPart) {
  Links links;
  for (int i = 0; i < 3; ++i) links.expect(Link::kFileOp, 0, 9);
  Arrows out, in;
  links.begin(Link::kFileOp, 0, 9, out);
  links.end(Link::kFileOp, 0, 9, in);
  links.forget_open();
  links.end(Link::kFileOp, 0, 9, in);
  links.end(Link::kFileOp, 0, 9, in);
  EXPECT_EQ(in.size(), 1u);
  EXPECT_EQ(links.drawn(), 1);
  EXPECT_EQ(links.not_drawn(), 2);
}

}  // namespace
}  // namespace mlrun::exchange
