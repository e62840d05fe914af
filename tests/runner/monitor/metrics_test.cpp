// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/metrics.h"

#include <gtest/gtest.h>

#include "tests/runner/monitor/boards.h"

namespace mlrun::monitor {
namespace {

std::string text_of(const GpuBoard& board, const FeedState& feed = {}) {
  return metrics_text({.board = board, .feed = feed, .served = {}, .self = {}, .hostname = "h"}, Format::kPrometheus);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Metrics, UnknownValuesHaveNoSample) {
  GpuBoard board;
  board.set_gpus({gpu_text(1, "A"), gpu_text(2, "B")});
  const std::string before = text_of(board);
  EXPECT_EQ(count(before, "mlrun_gpu_memory_used_bytes"), 0u) << before;
  EXPECT_EQ(count(before, "mlrun_gpu_last_seen_timestamp_seconds"), 0u);
  board.add({{gpu_row(1, 1, 10), silent_row(2, 1)}, {process_row(1, 1, 4711)}});
  const std::string text = text_of(board);
  EXPECT_EQ(count(text, "\nmlrun_gpu_memory_used_bytes{gpu=\"A\",index=\"0\",hostname=\"h\"} 100\n"), 1u) << text;
  EXPECT_EQ(count(text, "\nmlrun_gpu_memory_used_bytes{"), 1u);
  EXPECT_EQ(count(text, "\nmlrun_gpu_pcie_received_bytes_total{"), 1u);
  EXPECT_EQ(count(text, "\nmlrun_gpu_up{gpu=\"B\",index=\"1\",hostname=\"h\"} 0\n"), 1u);
  EXPECT_EQ(count(text, "\nmlrun_gpu_last_seen_timestamp_seconds{"), 1u);
  EXPECT_EQ(count(text, "pid=\"4711\",driver_pid=\"\""), 1u);  // active alone: it has no use and no memory
}

TEST(Metrics, AProcessThatIsListedTwiceIsThereOnce) {
  GpuBoard board;
  board.set_gpus({gpu_text(1, "A")});
  auto unknown = process_row(1, 1, 0);
  unknown.driver_pid = 9;
  auto other_instance = process_row(1, 1, 4711);
  other_instance.gpu_instance = 3;  // of an instance that is not in the list of GPUs
  board.add({{gpu_row(1, 1, 10)}, {process_row(1, 1, 4711), other_instance, unknown}});
  const std::string text = text_of(board);
  EXPECT_EQ(count(text, "mlrun_gpu_process_active{"), 2u) << text;
  EXPECT_EQ(count(text, "pid=\"\",driver_pid=\"9\""), 1u);
}

TEST(Metrics, WithoutADriverTheMonitorReportsOnItself) {
  const GpuBoard board;
  const std::string text = text_of(board, {.problem = "there is none", .tried = true});
  EXPECT_EQ(count(text, "mlrun_gpu"), 0u) << text;
  EXPECT_EQ(count(text, "\nmlrun_monitor_driver_up 0\n"), 1u);
}

}  // namespace
}  // namespace mlrun::monitor
