// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/tracing_cost.h"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/report/json/json.h"
#include "runner/report/text/text.h"
#include "tests/runner/summary/small_training.h"

namespace mlrun::summary {
namespace {

TEST(CostTest, IsCallsTimesCostPerCallForEachClass) {
  const Summary summary = testing::small_training();
  const auto cost = cost_estimate(summary);
  ASSERT_TRUE(cost);
  std::map<std::string, int64_t> calls;
  double sum = 0;
  for (const CostLine& line : cost->lines) {
    calls[line.cost_class] = line.calls;
    sum += double(line.calls) * line.per_call_ns;
  }
  const std::map<std::string, int64_t> expected = {
      {"alloc_listed", summary.allocations},
      {"alloc_counted", summary.counted_allocations + summary.counted_frees},
      {"call", 10},
      {"path_call", 1},
      {"open", 2},
      {"fork", 1}};
  EXPECT_EQ(calls, expected);
  EXPECT_EQ(cost->total_ns, sum);
  EXPECT_EQ(cost->calls_without_cost, 0);
  EXPECT_DOUBLE_EQ(*cost->share_of_cpu, sum / 35e6);
}

TEST(CostTest, StdioCallsWithoutARowHaveTheirOwnCost) {
  Summary summary = testing::small_training();
  summary.served_calls = summary.calls + 1000;
  (*summary.run.cost.cost_per_call_ns)["stdio"] = 7;
  const double before = cost_estimate(testing::small_training())->total_ns;
  EXPECT_DOUBLE_EQ(cost_estimate(summary)->total_ns, before + 7000);
}

TEST(CostTest, EachRecordOfAMarkIsCharged) {
  Summary summary = testing::small_training();
  summary.mark_records = 2000;
  (*summary.run.cost.cost_per_call_ns)["mark"] = 9;
  const double before = cost_estimate(testing::small_training())->total_ns;
  EXPECT_DOUBLE_EQ(cost_estimate(summary)->total_ns, before + 18'000);
  EXPECT_EQ(report::to_json(summary)["tracing"]["calls_cost_ns"],
            report::to_json(testing::small_training())["tracing"]["calls_cost_ns"]);
}

TEST(CostTest, AClassThatWasNotMeasuredIsNamedAndNotGuessed) {
  Summary summary = testing::small_training();
  summary.run.cost.cost_per_call_ns->erase("call");
  const auto cost = cost_estimate(summary);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->calls_without_cost, 10);
}

TEST(CostTest, OptionsWithoutAMeasuredCostAreNamedAsLeftOut) {
  Summary summary = testing::small_training();
  EXPECT_TRUE(cost_estimate(summary)->left_out.empty());
  summary.run.options.stack_depth = 12;
  summary.run.options.exclude = {"/proc/*"};
  EXPECT_EQ(cost_estimate(summary)->left_out, (std::vector<std::string>{"stacks", "excluded paths"}));
  summary.run.options = {};
  summary.run.options.alloc_times = true;
  EXPECT_EQ(cost_estimate(summary)->left_out, std::vector<std::string>{"durations of allocations"});
  summary.run.options = {};
  summary.run.options.stack_depth = 12;
  summary.run.options.exclude = {"/proc/*"};
  report::TextStyle wide;
  wide.width = 200;
  EXPECT_NE(report::cost_text(summary, wide).find("of the command's, without stacks and excluded paths"),
            std::string::npos);
}

TEST(CostTest, FurtherStreamsOfTheRunAreNamedAsLeftOut) {
  Summary summary = testing::small_training();
  summary.run.options.streams = {"files", "allocs", "gpu", "python_stacks"};
  summary.run.options.stack_depth = 12;
  summary.run.kernel_side.state = "refused";
  EXPECT_EQ(cost_estimate(summary)->left_out, (std::vector<std::string>{"short waits", "stacks", "GPU work"}));
  summary.run.kernel_side.state = "recorded";
  report::TextStyle wide;
  wide.width = 200;
  EXPECT_NE(report::cost_text(summary, wide).find("without short waits, stacks, the kernel side and GPU work"),
            std::string::npos);
}

TEST(CostTest, WithoutAMeasurementItIsNotKnown) {
  Summary summary = testing::small_training();
  for (const auto& run : {nlohmann::json::object(), nlohmann::json({{"cost", 3}}),
                          nlohmann::json({{"cost", {{"cost_per_call_ns", 120.5}}}})}) {
    summary.run = model::run_of(run);
    EXPECT_FALSE(cost_estimate(summary));
    EXPECT_NE(report::cost_text(summary, {}).find("cost unknown (mlrun bench measures it)"), std::string::npos);
    EXPECT_TRUE(report::to_json(summary)["tracing"]["cost"].is_null());
  }
}

}  // namespace
}  // namespace mlrun::summary
