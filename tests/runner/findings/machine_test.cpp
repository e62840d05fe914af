// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/machine.h"

#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "runner/findings/rule.h"
#include "runner/parquet/row_columns.h"

namespace mlrun::findings {
namespace {

struct CpuRow {
  int32_t cpu = 0;
  int64_t dur_ns = 0, user_ns = 0, idle_ns = 0, softirq_ns = 0;
};
struct CpuColumns {
  static constexpr const char* kTable = "sample_cpu";
  static void visit(auto& visitor, const CpuRow& row) {
    visitor("ts", int64_t{0}, tables::kDelta);
    visitor("dur", row.dur_ns);
    visitor("cpu", row.cpu);
    visitor("user_ns", row.user_ns);
    visitor("softirq_ns", row.softirq_ns);
    visitor("idle_ns", row.idle_ns);
    for (const char* name : {"nice_ns", "system_ns", "irq_ns", "steal_ns", "guest_ns", "guest_nice_ns"})
      visitor.optional(name, int64_t{-1}, int64_t{-1});
  }
};

TEST(Machine, ALimitOfTheCgroupLeavesFewerProcessorsThanAreIdle) {
  Machine machine;
  machine.processors = 16;
  machine.own = 3.5;
  machine.idle = 12;
  EXPECT_DOUBLE_EQ(machine.usable(), 15.5);
  EXPECT_DOUBLE_EQ(machine.free(), 12);
  machine.quota = 4;
  EXPECT_DOUBLE_EQ(machine.usable(), 4);
  EXPECT_DOUBLE_EQ(machine.free(), 0.5);
}

TEST(Machine, WithoutSamplesNothingIsKnownOfIdleProcessors) {
  Machine machine;
  machine.processors = 2;
  EXPECT_DOUBLE_EQ(machine.usable(), 2);
  EXPECT_LT(machine.free(), 0);
}

TEST(Machine, SamplesPerProcessorGiveTheMeanNumberOfIdleOnes) {
  const std::filesystem::path folder = ::testing::TempDir() + "findings_machine_" + std::to_string(::getpid());
  tables::RowTable<CpuColumns, CpuRow> table;
  ASSERT_TRUE(table.open_in(folder / "tables"));
  for (int i = 0; i < 4; ++i) {
    table.add({.cpu = 0, .dur_ns = 100, .user_ns = 60, .idle_ns = 30, .softirq_ns = 10});
    if (i < 2) table.add({.cpu = 1, .dur_ns = 100, .user_ns = 0, .idle_ns = 100});  // then it is offline
  }
  ASSERT_TRUE(table.close());
  const auto machine = read_machine(folder, {});
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(machine) << machine.error().text;
  EXPECT_DOUBLE_EQ(machine->idle, (4 * 30 + 2 * 100) / 400.0);
  EXPECT_DOUBLE_EQ(machine->busy, 4 * 70 / 400.0);
  EXPECT_LT(machine->pressure, 0) << "only --sample=machine has it";
}

TEST(Oversubscription, NamesIdleProcessorsOnlyWhereTheyWereMeasured) {
  blame::Analysis analysis;
  Machine machine;
  machine.processors = 2;
  EXPECT_EQ(oversubscription(Context(analysis, machine)).claim,
            "the training thread was ready to run and had no processor: 2 processors");
  machine.idle = 0.3;
  EXPECT_EQ(oversubscription(Context(analysis, machine)).claim,
            "the training thread was ready to run and had no processor: 2 processors, 0.3 idle on average");
}

}  // namespace
}  // namespace mlrun::findings
