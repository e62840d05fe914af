// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/gpu_board.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "runner/util/clock.h"
#include "tests/runner/monitor/boards.h"

namespace mlrun::monitor {
namespace {

constexpr uint64_t kS = 1'000'000'000;

TEST(GpuBoard, EveryGpuHasItsOwnTimeAndSumsOfItsOwn) {
  GpuBoard board;
  board.set_gpus({gpu_text(1, "A"), gpu_text(2, "B")});
  const uint64_t now_ns = util::monotonic_ns(), realtime_ns = util::realtime_ns();
  EXPECT_FALSE(board.add({}));
  EXPECT_EQ(board.gpus()[0].history.last_seen_ns, 0u);
  board.add({{gpu_row(1, now_ns - 3 * kS, 10), gpu_row(2, now_ns - 3 * kS, 1)}, {}});
  board.add({{gpu_row(1, now_ns - kS, 20), silent_row(2, now_ns - kS)}, {}});
  const GpuNow &a = board.gpus()[0], &b = board.gpus()[1];
  EXPECT_TRUE(a.answered);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(a.history.added[MLRUN_GPU_PCIE_RX_BYTES], 30);
  EXPECT_EQ(b.history.added[MLRUN_GPU_PCIE_RX_BYTES], 1);
  EXPECT_FALSE(a.history.counts[MLRUN_GPU_PCIE_TX_BYTES]);
  EXPECT_EQ(a.history.unanswered, 0u);
  EXPECT_EQ(b.history.unanswered, 1u);
  EXPECT_NEAR(static_cast<double>(a.history.last_seen_ns), static_cast<double>(realtime_ns - kS), 1e9 / 2);
  EXPECT_NEAR(static_cast<double>(b.history.last_seen_ns), static_cast<double>(realtime_ns - 3 * kS), 1e9 / 2);
}

TEST(GpuBoard, AGpuIsTheSameInANewList) {
  GpuBoard board;
  board.set_gpus({gpu_text(1, "A"), gpu_text(2, "B")});
  board.add({{gpu_row(1, 1, 10), gpu_row(2, 1, 1)}, {}});
  board.set_gpus({gpu_text(1, "B")});
  ASSERT_EQ(board.gpus().size(), 1u);
  EXPECT_EQ(board.gpus()[0].history.added[MLRUN_GPU_PCIE_RX_BYTES], 1);
  board.set_gpus({gpu_text(1, "B"), gpu_text(2, "A")});
  EXPECT_EQ(board.gpus()[1].history.added[MLRUN_GPU_PCIE_RX_BYTES], 10);
}

TEST(GpuBoard, ProcessesAreThoseOfTheNewestSampleAndBelongToTheirInstance) {
  GpuBoard board;
  board.set_gpus({gpu_text(1, "A"), mig_text(2, "M", 1, 7, 0)});
  gpu::GpuRows rows{{gpu_row(1, 1, 0), gpu_row(2, 1, 0), gpu_row(1, 2, 0), gpu_row(2, 2, 0)},
                    {process_row(1, 1, 100), process_row(1, 2, 101), process_row(1, 2, 102)}};
  rows.processes.back().gpu_instance = 7;
  rows.processes.back().compute_instance = 0;
  EXPECT_TRUE(board.add(rows));
  ASSERT_EQ(board.processes().size(), 2u);
  EXPECT_EQ(board.processes()[0].row.pid, 101u);
  EXPECT_EQ(board.processes()[0].gpu, 0u);
  EXPECT_EQ(board.processes()[1].gpu, 1u);
  board.forget_values();
  EXPECT_TRUE(board.processes().empty());
  EXPECT_FALSE(board.gpus()[0].answered);
}

}  // namespace
}  // namespace mlrun::monitor
