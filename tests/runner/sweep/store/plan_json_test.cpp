// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/store/plan_json.h"

#include <functional>
#include <utility>

#include "tests/runner/sweep/store/store_kit.h"

namespace mlrun::sweep {
namespace {

TEST(PlanJson, EveryMemberIsReadBack) {
  const Plan plan = small_plan();
  const auto back = plan_from_json(to_json(plan));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(to_json(*back), to_json(plan));
  EXPECT_EQ(back->after, plan.after);  // bytes that are no UTF-8
  EXPECT_EQ(back->configurations[0].cache, Cache::kCold);
  EXPECT_EQ(back->configurations[0].environment, plan.configurations[0].environment);
  EXPECT_EQ(back->defaults, plan.defaults);
  EXPECT_EQ(back->order, Order::kSequence);
  EXPECT_EQ(back->stop.at_most, 20);
  EXPECT_EQ(back->hash, "first");
}

TEST(PlanJson, ThePlanOfAnOlderVersionHasNoFolderToStartIn) {
  Plan plan = small_plan();
  plan.directory = "/a \xff b";
  EXPECT_EQ(plan_from_json(to_json(plan))->directory, plan.directory);
  std::string older = to_json(plan);
  const size_t at = older.find("\"directory\":");
  older.erase(at, older.find(',', at) + 1 - at);
  const auto back = plan_from_json(older);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->directory, "");
  EXPECT_EQ(changed_plan(*back, plan), "");
}

TEST(PlanJson, DamagedTextIsAnError) {
  EXPECT_FALSE(plan_from_json("{"));
  EXPECT_FALSE(plan_from_json("{}"));
  std::string unknown = to_json(small_plan());
  unknown.replace(unknown.find("\"cold\""), 6, "\"icy!\"");
  EXPECT_FALSE(plan_from_json(unknown));
}

using Edit = std::function<void(Plan&)>;

std::string after(const Edit& edit, const auto& function) {
  Plan edited = small_plan();
  edit(edited);
  return function(small_plan(), edited);
}

TEST(PlanJson, AChangeOfEarlierRunsIsNamed) {
  const std::vector<std::pair<const char*, Edit>> edits = {
      {"order", [](Plan& plan) { plan.order = Order::kBlocks; }},
      {"time_limit", [](Plan& plan) { plan.time_limit_ns = 1; }},
      {"pause", [](Plan& plan) { plan.pause_ns = 1; }},
      {"before", [](Plan& plan) { plan.before = {}; }},
      {"after", [](Plan& plan) { plan.after = {}; }},
      {"input", [](Plan& plan) { plan.input = ""; }},
      {"\"full\" options", [](Plan& plan) { plan.configurations[1].options.pop_back(); }},
      {"\"dry\" dry", [](Plan& plan) { plan.configurations[0].is_dry = false; }},
      {"cpus", [](Plan& plan) { plan.configurations[0].cpus = "1"; }},
      {"mem_node", [](Plan& plan) { plan.configurations[0].mem_node = ""; }},
      {"cache", [](Plan& plan) { plan.configurations[0].cache = Cache::kAsIs; }},
      {"environment", [](Plan& plan) { plan.configurations[0].environment["A"] = "c"; }},
      {"parameters", [](Plan& plan) { plan.configurations[0].parameters.clear(); }},
      {"\"full\" is no longer there", [](Plan& plan) { plan.configurations.pop_back(); }},
      {"\"cat a\" is no longer there", [](Plan& plan) { plan.workloads.erase(plan.workloads.begin()); }},
      {"repetitions was 3 and is 2", [](Plan& plan) { plan.repetitions = 2; }}};
  for (const auto& [name, edit] : edits) {
    EXPECT_NE(after(edit, changed_runs).find(name), std::string::npos) << name << ": " << after(edit, changed_runs);
    EXPECT_EQ(after(edit, changed_plan), after(edit, changed_runs));
  }
}

TEST(PlanJson, AnAdditionIsNotAChangeOfEarlierRuns) {
  const std::vector<std::pair<const char*, Edit>> edits = {
      {"repetitions was 3 and is 4", [](Plan& plan) { plan.repetitions = 4; }},
      {"retries", [](Plan& plan) { plan.retries = 9; }},
      {"seed", [](Plan& plan) { plan.seed = 8; }},
      {"margin", [](Plan& plan) { plan.margin = 0.01; }},
      {"\"more\" is new", [](Plan& plan) { plan.configurations.emplace_back().name = "more"; }},
      {"\"cat c\" is new", [](Plan& plan) {
         plan.workloads.insert(plan.workloads.begin(), {"cat c", "cat c", {}});
       }}};
  for (const auto& [name, edit] : edits) {
    EXPECT_EQ(after(edit, changed_runs), "") << name;
    EXPECT_NE(after(edit, changed_plan).find(name), std::string::npos) << name << ": " << after(edit, changed_plan);
  }
}

}  // namespace
}  // namespace mlrun::sweep
