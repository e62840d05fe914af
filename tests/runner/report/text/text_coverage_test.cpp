// SPDX-License-Identifier: Apache-2.0
// What a summary says of its own completeness: nothing recorded, nothing asked for, lost, not seen.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/report/text/text.h"
#include "tests/runner/summary/small_training.h"

namespace mlrun::report {
namespace {

TEST(CompletenessTextTest, ReportsThatACommandWithoutCallsWasTraced) {
  summary::Summary summary;
  summary.processes.resize(1);
  const std::string shown = completeness_text(summary, TextStyle{});
  EXPECT_NE(shown.find("NOTHING RECORDED"), std::string::npos) << shown;
  EXPECT_NE(shown.find("were traced, but made no call"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("doctor"), std::string::npos) << shown;
}

TEST(CompletenessTextTest, DoesNotReportCallsThatWereNotRequested) {
  model::TraceInfo info;
  info.run = nlohmann::json{{"options", {{"streams", nlohmann::json::array()}}}};
  const std::string shown = completeness_text(summary::Builder().finish(info), TextStyle{});
  EXPECT_EQ(shown, "no call or allocation was to be recorded (--preload=off)\n");
  info.run = nlohmann::json{{"options", {{"streams", {"calls"}}}}};
  EXPECT_NE(completeness_text(summary::Builder().finish(info), TextStyle{}).find("NOTHING RECORDED"),
            std::string::npos);
}

TEST(CompletenessTextTest, ListsAtTheEndWhatWasNotSeenAndMovedNothing) {
  summary::Summary summary = summary::Builder().finish({});
  summary.calls = 1;
  summary.coverage.push_back({0, "/sbin/ldconfig", "statically linked", 0, 1, model::kRemark});
  EXPECT_TRUE(summary.complete());
  EXPECT_EQ(completeness_text(summary, TextStyle{}), "complete: nothing lost; 1 remark at the end\n");
  EXPECT_EQ(unseen_text(summary, TextStyle{}), "");
  EXPECT_EQ(remarks_text(summary, TextStyle{}), "REMARKS\n  /sbin/ldconfig (1 of 1), statically linked\n");
  summary.coverage.push_back({0, "bytes read", "by a child", 0, 1 << 20});
  EXPECT_FALSE(summary.complete());
  EXPECT_EQ(completeness_text(summary, TextStyle{}),
            "NOT ALL SEEN: nothing lost, 1 thing not seen, 1 remark, listed at the end\n");
  EXPECT_EQ(unseen_text(summary, TextStyle{}),
            "LOST OR NOT SEEN\n  not seen: bytes read (1.00 MiB of 1.00 MiB), by a child\n");
}

TEST(CompletenessTextTest, CallsAPauseNoLoss) {
  summary::Summary summary = summary::testing::small_training();
  model::LossRow& pause = summary.losses.emplace_back();
  pause.channel = "interposer";
  pause.reason = "paused";
  pause.count = 1;
  pause.unit = "stretches";
  EXPECT_TRUE(summary.complete());
  EXPECT_EQ(completeness_text(summary, TextStyle{}), "complete: nothing lost; 1 remark at the end\n");
  EXPECT_EQ(remarks_text(summary, TextStyle{}), "REMARKS\n  recording was paused by mlrun pause: 1 stretch\n");
  pause.reason = "recording stopped, the disk took no more";
  EXPECT_EQ(completeness_text(summary, TextStyle{}), "INCOMPLETE: 1 kind of loss, listed at the end\n");
  EXPECT_NE(unseen_text(summary, TextStyle{}).find("  1 stretch lost, interposer: "), std::string::npos);
}

}  // namespace
}  // namespace mlrun::report
