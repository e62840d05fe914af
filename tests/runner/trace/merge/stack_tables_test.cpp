// SPDX-License-Identifier: Apache-2.0
// Stacks of several processes as the tables `stack` and `frame`.
#include <gtest/gtest.h>

#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using testing::TraceFolder;
using Texts = std::vector<std::string>;
using Numbers = TraceFolder::Numbers;

constexpr uint64_t kBase = 0x7f0000000000;

void add_module(RecordBuffer& records, uint32_t number, uint64_t base, uint64_t path) {
  records.add_record(MLRUN_MODULE, number,
                     {0, 1, (base + 0x1000) << 8, base + 0x9000, base << 8, path, 0x1000 << 8 | uint64_t{8} << 56,
                      0x1122334455667788, 0, 0, 0, 0});
}

uint64_t in_module(uint32_t number, uint64_t offset) { return MLRUN_FRAME_IN_MODULE | uint64_t{number} << 32 | offset; }

// Two frames in a module and one in code made at run time.
void add_stack(RecordBuffer& records, uint64_t id, uint32_t module, uint64_t offset) {
  records.add_record(MLRUN_STACK, 3 | MLRUN_STACK_UNKNOWN_CODE << 8,
                     {0, id, in_module(module, offset) << 8, in_module(module, 0x2000), uint64_t{0x5555000} << 8, 0});
}

void add_block(RecordBuffer& records, uint64_t ns, uint64_t stack) {
  testing::Allocation block;
  block.start = ticks_at(ns);
  block.site = MLRUN_SITE_IS_STACK | stack;
  records.add(block);
}

// Two processes with the library at different places and under different numbers.
SpoolWriter two_processes(bool stack_before_module) {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  for (uint32_t process = 1; process <= 2; process++) {
    spool.add_channel({.serial = process, .pid = 100 + process, .tid = 100 + process, .process = process});
    RecordBuffer records;
    const uint64_t path = records.add_string("/gone/libwork.so");
    if (!stack_before_module) add_module(records, process + 5, kBase * process, path);
    add_stack(records, 10 + process, process + 5, 0x1500);
    add_stack(records, 20 + process, process + 5, 0x1600);
    add_block(records, 10 * kMillisecond * process, 10 + process);
    add_block(records, 15 * kMillisecond * process, 20 + process);
    if (stack_before_module) add_module(records, process + 5, kBase * process, path);
    spool.add_data(process, records);
  }
  return spool;
}

class TwoProcesses : public ::testing::TestWithParam<bool> {};

TEST_P(TwoProcesses, ThatCallTheSameFunctionsHaveTheSameStacks) {
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(two_processes(GetParam())));
  EXPECT_EQ(folder.numbers("alloc", "stack_id"), (Numbers{1, 2, 1, 2}));
  EXPECT_EQ(folder.numbers("alloc", "site"), (Numbers{int64_t(kBase + 0x1500), int64_t(kBase + 0x1600),
                                                      int64_t(2 * kBase + 0x1500), int64_t(2 * kBase + 0x1600)}));
  EXPECT_EQ(folder.numbers("alloc", "site_offset"), (Numbers{0x1500, 0x1600, 0x1500, 0x1600}));
  EXPECT_EQ(folder.numbers("stack", "stack_id"), (Numbers{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(folder.numbers("stack", "depth"), (Numbers{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(folder.numbers("stack", "frame_id"), (Numbers{1, 2, 3, 4, 2, 3}));
  EXPECT_EQ(folder.numbers("frame", "offset"), (Numbers{0x1500, 0x2000, 0x5555000, 0x1600}));
  EXPECT_EQ(folder.texts("frame", "state"), (Texts{"no file", "no file", "no library", "no file"}));
  EXPECT_EQ(folder.texts("frame", "label")[2], "0x5555000 in no library");
}

INSTANTIATE_TEST_SUITE_P(StackFirst, TwoProcesses, ::testing::Bool());

TEST(Stacks, WithoutDefinitionAreUnknown) {
  SpoolWriter spool;
  spool.add_anchor(0);
  spool.add_anchor(100 * kMillisecond);
  spool.add_channel({});
  RecordBuffer records;
  add_block(records, kMillisecond, 4711);
  spool.add_data(1, records);
  const TraceFolder folder;
  ASSERT_TRUE(folder.merge(spool));
  EXPECT_EQ(folder.numbers("alloc", "stack_id"), (Numbers{std::nullopt}));
  EXPECT_TRUE(folder.numbers("stack", "stack_id").empty());
}

}  // namespace
}  // namespace mlrun
