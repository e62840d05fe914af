// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/completions.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

TEST(Completions, BelongToTheOperationOfTheirNumberWheneverTheyCame) {
  const auto done = [](uint64_t operation, uint64_t time_ns, int64_t result) {
    mlrun_file_done record{};
    record.head.time_ns = time_ns;
    record.operation = operation;
    record.result = result;
    return record;
  };
  Completions completions;
  completions.add(done(9, 300, 4096));
  completions.add(done(7, 100, -EIO));
  completions.add(done(~uint64_t{0}, 200, 0));
  completions.add(done(9, 400, 1));  // damaged: a number is given once
  completions.sort();
  ASSERT_TRUE(completions.of(9).has_value());
  EXPECT_EQ(completions.of(9)->time_ns, 300);
  EXPECT_EQ(completions.of(9)->result, 4096);
  ASSERT_TRUE(completions.of(7).has_value());
  EXPECT_EQ(completions.of(7)->result, -EIO);
  EXPECT_TRUE(completions.of(~uint64_t{0}).has_value());
  EXPECT_EQ(completions.missing(), 0u);
  EXPECT_FALSE(completions.of(8).has_value());
  EXPECT_EQ(completions.missing(), 1u);
  EXPECT_FALSE(Completions{}.of(9).has_value());
}

TEST(Completions, BeyondTheLimitAreCounted) {
  Completions completions(2);
  for (uint64_t operation = 1; operation <= 5; operation++) {
    mlrun_file_done record{};
    record.operation = operation;
    completions.add(record);
  }
  completions.sort();
  EXPECT_TRUE(completions.of(2).has_value());
  EXPECT_FALSE(completions.of(3).has_value());
  EXPECT_EQ(completions.left_out(), 3u);
}

}  // namespace
}  // namespace mlrun::trace
