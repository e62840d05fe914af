// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/steps.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/model/step_name.h"

namespace mlrun::idle {
namespace {

using model::IdleLabel;

// Process 1 has the main thread 1 (tid 100) and thread 2.
class StepsTest : public ::testing::Test {
 protected:
  StepsTest() {
    model::ProcessRow& process = info_.processes.emplace_back();
    process.proc_id = 1;
    process.pid = 100;
    for (int32_t thread = 1; thread <= 2; ++thread) {
      model::ThreadRow& row = info_.threads.emplace_back();
      row.thread_id = thread;
      row.proc_id = 1;
      row.tid = 99 + thread;
    }
    info_.names = {{1, "step 1"}, {2, "forward"}};
  }
  void add_step(int64_t start_ns, int64_t end_ns, int32_t thread_id = 1, int64_t name_id = 1) {
    model::MarkRow row;
    row.origin.ts_ns = start_ns;
    row.origin.thread_id = thread_id;
    row.origin.proc_id = 1;
    row.dur_ns = end_ns - start_ns;
    row.name_id = name_id;
    row.scope = "thread";
    steps_.add(row);
  }
  void add_idle(int64_t start_ns, int64_t end_ns, int32_t launch_thread_id, IdleLabel label = IdleLabel::kFile) {
    model::IdleRow row;
    row.ts_ns = start_ns;
    row.dur_ns = end_ns - start_ns;
    row.gpu_id = 1;
    row.label = label;
    row.thread_id = 2;
    row.launch_thread_id = launch_thread_id;
    steps_.add_idle(row);
  }

  model::TraceInfo info_;
  Steps steps_{info_};
};

TEST(StepNames, AreThoseOfStepsAlone) {
  for (const char* name : {"step", "Step 12", "train_step", "training-step #7", "ProfilerStep#3", "iteration: 4",
                           "global_step=9", "batch_0", "train iter 1"}) {
    EXPECT_TRUE(model::is_step_name(name)) << name;
  }
  for (const char* name : {"", "12", "optimizer.step", "Optimizer.step#Adam.step", "stepping", "forward", "epoch 1",
                           "train", "validation step"}) {
    EXPECT_FALSE(model::is_step_name(name)) << name;
  }
  EXPECT_FALSE(model::is_step_name(std::string(100, ' ') + "step"));
}

TEST_F(StepsTest, ShareAGapByTime) {
  add_step(100, 200);
  add_step(200, 300);
  add_step(300, 400);
  add_step(110, 150, 1, 2);  // not a step
  steps_.sort();
  add_idle(150, 220, 1);
  add_idle(220, 230, 1, IdleLabel::kCpu);
  add_idle(500, 600, 1);  // in none
  const nlohmann::json reported = steps_.describe();
  ASSERT_EQ(reported["worst"].size(), 2u);
  EXPECT_EQ(reported["worst"][0]["idle_ns"], 50);
  EXPECT_EQ(reported["worst"][0]["number"], 1);
  EXPECT_EQ(reported["worst"][0]["name"], "step 1");
  EXPECT_EQ(reported["worst"][1]["idle"], (nlohmann::json{{"file", 20}, {"cpu", 10}}));
  EXPECT_EQ(reported["worst"][1]["blamed"]["label"], "file");
  EXPECT_EQ(reported["worst"][1]["blamed"]["thread_id"], 2);
  EXPECT_EQ(reported["devices"][0]["steps"], 3);
  EXPECT_EQ(reported["devices"][0]["idle_ns"], 80);
  EXPECT_EQ(reported["devices"][0]["idle_max_ns"], 50);
  EXPECT_EQ(reported["devices"][0]["idle_p50_ns"], 30);
}

TEST_F(StepsTest, OfTheMainThreadCountForAThreadWithoutAny) {
  add_step(100, 200, 1);
  steps_.sort();
  add_idle(100, 110, 2);
  add_idle(120, 125, 0);  // the launching thread is unknown
  EXPECT_EQ(steps_.describe()["worst"][0]["idle_ns"], 10);
}

TEST_F(StepsTest, WithinEachOtherCountOnce) {
  add_step(120, 140);
  add_step(100, 200);
  steps_.sort();
  add_idle(110, 150, 1);
  const nlohmann::json reported = steps_.describe();
  ASSERT_EQ(reported["worst"].size(), 1u);
  EXPECT_EQ(reported["worst"][0]["idle_ns"], 40);
}

TEST_F(StepsTest, ThatOverlapInPartFollowEachOther) {
  add_step(100, 200);
  add_step(150, 300);
  add_step(160, 190);
  steps_.sort();
  add_idle(180, 220, 1);
  const nlohmann::json reported = steps_.describe();
  ASSERT_EQ(reported["worst"].size(), 2u);
  EXPECT_EQ(reported["devices"][0]["steps"], 2);
  EXPECT_EQ(reported["devices"][0]["time_ns"], 200);
  EXPECT_EQ(reported["devices"][0]["idle_ns"], 40);
  EXPECT_EQ(reported["worst"][1]["start_ns"], 200);
  EXPECT_EQ(reported["worst"][1]["duration_ns"], 100);
  EXPECT_EQ(reported["left_out"], 0);
}

TEST_F(StepsTest, HaveTheirNameWhereItHasNoNumber) {
  model::MarkRow row;
  row.origin.ts_ns = 100;
  row.origin.thread_id = row.origin.proc_id = 1;
  row.dur_ns = 50;
  row.name = "train_step 7";
  row.scope = "thread";
  steps_.add(row);
  steps_.sort();
  add_idle(110, 120, 1);
  EXPECT_EQ(steps_.describe()["worst"][0]["name"], "train_step 7");
}

TEST_F(StepsTest, AreLeftOutWhereTheIdleTimeIsIncomplete) {
  add_step(100, 200);
  add_step(200, 300);
  add_step(300, 400);
  steps_.sort();
  steps_.end_at(1, 250);
  steps_.end_at(2, 0);  // a GPU without idle time in steps
  add_idle(150, 220, 1);
  const nlohmann::json reported = steps_.describe();
  ASSERT_EQ(reported["worst"].size(), 1u);
  EXPECT_EQ(reported["worst"][0]["idle_ns"], 50);
  EXPECT_EQ(reported["devices"][0]["steps"], 1);
  EXPECT_EQ(reported["left_out"], 2);
}

TEST_F(StepsTest, AreNullWhereThereAreNone) {
  steps_.sort();
  add_idle(110, 150, 1);
  EXPECT_TRUE(steps_.describe().is_null());
}

}  // namespace
}  // namespace mlrun::idle
