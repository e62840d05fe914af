// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/kernel_losses.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::trace {
namespace {

TEST(KernelLosses, BeyondTheLimitOfRowsThoseOfOneKindAndReasonShareOne) {
  const auto loss = [](uint32_t kind, uint64_t first_ns, uint64_t last_ns, uint64_t count) {
    mlrun_kernel_loss record{};
    record.head.cpu = static_cast<uint32_t>(first_ns / 10);
    record.head.time_ns = last_ns;
    record.first_ns = first_ns;
    record.count = count;
    record.of_kind = kind;
    record.reason = MLRUN_KERNEL_LOSS_RING;
    return record;
  };
  KernelLosses losses(1);
  losses.add(loss(MLRUN_KERNEL_WAIT, 10, 20, 1));
  losses.add(loss(MLRUN_KERNEL_WAIT, 20, 30, 2));
  losses.add(loss(MLRUN_KERNEL_FRAGMENT, 30, 40, 4));
  losses.add(loss(MLRUN_KERNEL_WAIT, 40, 50, UINT64_MAX));
  model::TraceInfo info;
  losses.add_rows(info);
  ASSERT_EQ(info.losses.size(), 3u);
  EXPECT_EQ(info.losses[0].count, 1);
  EXPECT_EQ(info.losses[1].unit, "bio fragments");
  EXPECT_EQ(info.losses[1].count, 4);
  EXPECT_EQ(info.losses[2].unit, "waits");
  EXPECT_EQ(info.losses[2].count, INT64_MAX);
  EXPECT_EQ(info.losses[2].first_ns, 20);
  EXPECT_EQ(info.losses[2].last_ns, 50);
  EXPECT_EQ(info.losses[0].cpu, 1);
  EXPECT_EQ(info.losses[1].cpu, 3);
  EXPECT_EQ(info.losses[2].cpu, -1) << "of several processors";
}

TEST(KernelLosses, OperationsWithoutAnEndHaveNoProcessor) {
  mlrun_kernel_loss record{};
  record.reason = MLRUN_KERNEL_LOSS_OPEN;
  KernelLosses losses;
  losses.add(record);
  model::TraceInfo info;
  losses.add_rows(info);
  ASSERT_EQ(info.losses.size(), 1u);
  EXPECT_EQ(info.losses[0].cpu, -1);
}

TEST(KernelLosses, LostStateNamesWhatIsMissingWithoutIt) {
  KernelLosses losses;
  for (const uint32_t reason : {MLRUN_KERNEL_LOSS_WRITER, MLRUN_KERNEL_LOSS_PLACE}) {
    mlrun_kernel_loss record{};
    record.of_kind = MLRUN_KERNEL_FRAGMENT;
    record.reason = reason;
    record.count = 3;
    losses.add(record);
  }
  model::TraceInfo info;
  losses.add_rows(info);
  ASSERT_EQ(info.losses.size(), 2u);
  EXPECT_EQ(info.losses[0].unit, "bio fragments");
  EXPECT_NE(info.losses[0].reason.find("at most"), std::string::npos);
  EXPECT_EQ(info.losses[1].unit, "bios of stacked devices");
  EXPECT_EQ(info.losses[1].count, 3);
}

TEST(KernelLosses, ProgramsThatTheKernelDidNotRunAreReported) {
  model::TraceInfo info;
  const auto add = [&](const nlohmann::json& session) {
    add_skipped_programs(info, model::run_of(session).kernel_side);
  };
  add({{"kernel_side", {{"skipped", nlohmann::json::array()}}}});
  add({{"kernel_side", {{"skipped", "none"}}}});
  add({{"kernel_side", nullptr}});
  EXPECT_TRUE(info.losses.empty());
  add({{"kernel_side",
        {{"skipped",
          {{{"program", "on_request_complete"}, {"times", 12u}},
           {{"program", 7}, {"times", 12u}},
           {{"program", "on_switch"}, {"times", -1}},
           nullptr}}}}});
  ASSERT_EQ(info.losses.size(), 1u);
  EXPECT_EQ(info.losses[0].reason,
            "the kernel skipped the BPF program on_request_complete, which was already running on that processor");
  EXPECT_EQ(info.losses[0].count, 12);
}

}  // namespace
}  // namespace mlrun::trace
