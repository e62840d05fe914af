// SPDX-License-Identifier: Apache-2.0
// Samples of the machine's counters, from the spool to the tables and the summary.
#include "runner/trace/samples/counter_samples.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <gtest/gtest.h>

#include "runner/events/counter_sample.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::kStartNs;
using Numbers = testing::TraceFolder::Numbers;
using Texts = std::vector<std::string>;

template <typename Row>
Row row_at(uint64_t begin_ns, uint64_t end_ns) {
  Row row{};
  row.monotonic_ns = kStartNs + end_ns;
  row.interval_ns = end_ns - begin_ns;
  std::fill(std::begin(row.values), std::end(row.values), MLRUN_NOT_KNOWN);
  return row;
}

template <typename Row>
std::string rows_of(mlrun_sample_table table, const std::vector<Row>& rows) {
  const mlrun_frame_samples head{static_cast<__u32>(table), sizeof(Row), static_cast<__u32>(rows.size()), 0};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes.append(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row));
  return bytes;
}

class CounterSamples : public ::testing::Test {
 protected:
  CounterSamples() {
    spool_.add_anchor(0);
    spool_.add_anchor(1'000'000'000);
    spool_.add_channel({.serial = 1});
  }
  Result<summary::Summary> merge(const std::vector<std::string>& payloads) {
    for (const std::string& bytes : payloads) spool_.add_frame(MLRUN_FRAME_SAMPLES, 0, bytes.data(), bytes.size());
    return folder_.merge(spool_);
  }
  testing::SpoolWriter spool_;
  testing::TraceFolder folder_;
};

TEST_F(CounterSamples, OfTheMachineHaveRowsAndAreAddedUp) {
  auto cpu = row_at<mlrun_cpu_sample>(0, 100);
  cpu.cpu = 3;
  cpu.values[MLRUN_CPU_USER_NS] = 40;
  cpu.values[MLRUN_CPU_SOFTIRQ_NS] = 2;
  cpu.values[MLRUN_CPU_IDLE_NS] = 50;
  cpu.values[MLRUN_CPU_STEAL_NS] = 8;
  auto disk = row_at<mlrun_disk_sample>(0, 100);
  std::memcpy(disk.name, "sd\xff", 3);
  disk.major = 8;
  disk.values[MLRUN_DISK_READ_BYTES] = 512;
  disk.values[MLRUN_DISK_BUSY_NS] = 60;
  auto idle_disk = disk;
  idle_disk.name[2] = 'b';
  idle_disk.values[MLRUN_DISK_READ_BYTES] = idle_disk.values[MLRUN_DISK_BUSY_NS] = 0;
  auto net = row_at<mlrun_net_sample>(0, 100);
  std::memcpy(net.name, "interface-of-16b", 16);
  net.values[MLRUN_NET_TX_BYTES] = 9;
  auto memory = row_at<mlrun_memory_sample>(0, 100), node = memory;
  memory.node = -1;
  memory.values[MLRUN_MEMORY_TOTAL_BYTES] = 1000;
  memory.values[MLRUN_MEMORY_AVAILABLE_BYTES] = 300;
  node.node = 1;
  node.values[MLRUN_MEMORY_NUMA_HIT] = 4;
  const auto merged = merge({rows_of<mlrun_cpu_sample>(MLRUN_SAMPLE_CPU, {cpu, cpu}),
                             rows_of<mlrun_disk_sample>(MLRUN_SAMPLE_DISK, {disk, idle_disk}),
                             rows_of<mlrun_net_sample>(MLRUN_SAMPLE_NET, {net}),
                             rows_of<mlrun_memory_sample>(MLRUN_SAMPLE_MEMORY, {memory, node})});
  ASSERT_TRUE(merged) << merged.error().text;
  EXPECT_EQ(folder_.numbers("sample_cpu", "ts"), (Numbers{kStartNs, kStartNs}));
  EXPECT_EQ(folder_.numbers("sample_cpu", "cpu"), (Numbers{3, 3}));
  EXPECT_EQ(folder_.texts("sample_disk", "device"), (Texts{"sd\\xff", "sdb"}));
  EXPECT_EQ(folder_.texts("sample_net", "interface"), (Texts{"interface-of-16b"}));
  EXPECT_EQ(folder_.numbers("sample_memory", "dur"), (Numbers{100, 100}));
  EXPECT_EQ(folder_.numbers("sample_memory", "numa_hit").back(), 4);
  const auto& machine = merged->machine;
  ASSERT_EQ(machine.size(), 5u) << "an idle disk has none";
  EXPECT_EQ(machine[0].what, "cpu");
  EXPECT_EQ(machine[0].processors, 1);
  EXPECT_EQ(machine[0].observed_ns, 200);
  EXPECT_EQ(machine[0].busy_ns, 84);
  EXPECT_EQ(machine[0].steal_ns, 16);
  EXPECT_EQ(machine[0].iowait_ns, -1);
  EXPECT_EQ(machine[1].peak_bytes, 700);
  EXPECT_EQ(machine[2].name, "node 1");
  EXPECT_EQ(machine[3].busy_ns, 60);
  EXPECT_EQ(machine[4].out_bytes, 9);
}

TEST_F(CounterSamples, OfProcessesAndThreadsHaveTheirIds) {
  auto process = row_at<mlrun_process_sample>(0, 50);
  process.host_pid = 100;
  process.state = 'S';
  auto thread = process, other = process;
  thread.host_tid = 100;
  other.host_pid = 9;
  std::memcpy(other.comm, "other", 5);
  ASSERT_TRUE(merge({rows_of<mlrun_process_sample>(MLRUN_SAMPLE_PROCESS, {process, thread, other})}));
  EXPECT_EQ(folder_.numbers("sample_process", "pid"), (Numbers{100, 100, 9}));
  EXPECT_EQ(folder_.numbers("sample_process", "proc_id")[0], 1);
  EXPECT_EQ(folder_.numbers("sample_process", "proc_id")[1], 1);
  EXPECT_EQ(folder_.numbers("sample_process", "thread_id")[1], 1);
  EXPECT_EQ(folder_.texts("sample_process", "comm")[2], "other");
}

// A later version's source, kind, and a frame that is cut.
TEST_F(CounterSamples, OfBandwidthWithUnknownSourcesAreKeptAndDamagedOnesCounted) {
  auto row = row_at<mlrun_bandwidth_sample>(0, 50), later = row;
  row.source = MLRUN_BANDWIDTH_RESCTRL;
  row.kind = MLRUN_BANDWIDTH_ALL;
  row.channel = -1;
  row.values[MLRUN_BANDWIDTH_LOCAL_BYTES] = 7;
  later.source = later.kind = 4711;
  std::string cut = rows_of<mlrun_bandwidth_sample>(MLRUN_SAMPLE_BANDWIDTH, {row});
  cut.pop_back();
  ASSERT_TRUE(merge({rows_of<mlrun_bandwidth_sample>(MLRUN_SAMPLE_BANDWIDTH, {row, later}), cut}));
  EXPECT_EQ(folder_.texts("sample_bandwidth", "source"), (Texts{"resctrl", "unknown"}));
  EXPECT_EQ(folder_.texts("sample_bandwidth", "kind"), (Texts{"all", "unknown"}));
  EXPECT_EQ(folder_.numbers("loss", "count"), (Numbers{1}));
}

TEST(CounterSampleCoverage, DistinguishesSamplesAboveTheShareFromLateOnes) {
  model::Run run;
  run.machine_sampler.samples = 60;
  run.machine_sampler.left_out = 3;
  run.machine_sampler.late_samples = 37;
  auto rows = trace::counter_sample_coverage(run);
  ASSERT_EQ(rows.size(), 1u) << "the few others do not matter";
  EXPECT_NE(rows[0].detail.find("37 of 100 were not taken in time: mlrun was stopped"), std::string::npos)
      << rows[0].detail;
  EXPECT_EQ(rows[0].seen, 63);
  run.machine_sampler.left_out = 0;
  run.machine_sampler.process_left_out = 45;
  run.machine_sampler.late_samples = 0;
  rows = trace::counter_sample_coverage(run);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].subject, "samples of process");
  EXPECT_EQ(rows[0].seen, 15);
  run.machine_sampler.process_left_out = 0;
  run.machine_sampler.left_out = 20;
  rows = trace::counter_sample_coverage(run);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NE(rows[0].detail.find("20 of 80 were skipped, to keep mlrun within its share"), std::string::npos)
      << rows[0].detail;
}

}  // namespace
}  // namespace mlrun
