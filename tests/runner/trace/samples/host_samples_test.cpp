// SPDX-License-Identifier: Apache-2.0
// Samples of threads and of the machine, from the spool to the tables.
#include <cstring>

#include <gtest/gtest.h>

#include "runner/events/host_sample.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::kStartNs;
using Numbers = testing::TraceFolder::Numbers;
using Texts = std::vector<std::string>;

template <typename Row>
std::string payload_of(__u32 table, const std::vector<Row>& rows, __u32 row_bytes = sizeof(Row)) {
  const mlrun_frame_samples head{table, row_bytes, static_cast<__u32>(rows.size()), 0};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  for (const Row& row : rows) bytes.append(reinterpret_cast<const char*>(&row), row_bytes);
  return bytes;
}

mlrun_thread_sample thread_row(uint32_t tid, uint64_t begin_ns, uint64_t end_ns, bool is_first, const char* comm) {
  mlrun_thread_sample row{};
  row.monotonic_ns = kStartNs + end_ns;
  row.interval_ns = end_ns - begin_ns;
  row.process = 1;
  row.tid = row.host_tid = tid;
  row.host_pid = 100;
  row.utime_ns = 10;
  row.stime_ns = 20;
  row.majflt = 3;
  row.run_ns = 33;
  row.runq_ns = 44;
  row.state = 'D';
  row.is_first = is_first ? 1 : 0;
  std::strncpy(row.comm, comm, sizeof row.comm);
  return row;
}

class HostSamples : public ::testing::Test {
 protected:
  HostSamples() {
    spool_.add_anchor(0);
    spool_.add_anchor(1'000'000'000);
    spool_.add_channel({.serial = 1});
  }
  void merge(const std::vector<std::string>& payloads) {
    for (const std::string& bytes : payloads) spool_.add_frame(MLRUN_FRAME_SAMPLES, 0, bytes.data(), bytes.size());
    const auto merged = folder_.merge(spool_);
    ASSERT_TRUE(merged) << merged.error().text;
  }
  testing::SpoolWriter spool_;
  testing::TraceFolder folder_;
};

TEST_F(HostSamples, AThreadThatRecordsNothingHasItsRows) {
  merge({payload_of<mlrun_thread_sample>(
      MLRUN_SAMPLE_THREAD, {thread_row(100, 0, 50, true, "main"), thread_row(200, 10, 60, true, "computes"),
                            thread_row(200, 60, 90, false, "computes"), thread_row(200, 200, 300, true, "reused")})});
  EXPECT_EQ(folder_.numbers("thread", "tid"), (Numbers{100, 200, 200}));
  EXPECT_EQ(folder_.numbers("thread", "first")[1], kStartNs + 10);
  EXPECT_EQ(folder_.numbers("thread", "first")[2], kStartNs + 200);
  EXPECT_EQ(folder_.numbers("thread", "last")[1], kStartNs + 90);
  EXPECT_EQ(folder_.texts("thread", "comm")[1], "computes");
  EXPECT_EQ(folder_.numbers("sample_thread", "ts"), (Numbers{kStartNs, kStartNs + 10, kStartNs + 60, kStartNs + 200}));
  EXPECT_EQ(folder_.numbers("sample_thread", "dur"), (Numbers{50, 50, 30, 100}));
  EXPECT_EQ(folder_.numbers("sample_thread", "thread_id"), (Numbers{1, 2, 2, 3}));
  EXPECT_EQ(folder_.numbers("sample_thread", "run_ns")[0], 33);
  EXPECT_EQ(folder_.numbers("sample_thread", "runq_ns")[0], 44);
  EXPECT_EQ(folder_.numbers("sample_thread", "majflt")[0], 3);
  EXPECT_EQ(folder_.texts("sample_thread", "state")[0], "D");
}

TEST_F(HostSamples, OfAnUnknownProcessHaveNoIds) {
  mlrun_thread_sample row = thread_row(9, 0, 50, true, "other");
  row.host_pid = 9;
  merge({payload_of<mlrun_thread_sample>(MLRUN_SAMPLE_THREAD, {row})});
  EXPECT_EQ(folder_.numbers("thread", "tid"), (Numbers{100}));
  EXPECT_EQ(folder_.numbers("sample_thread", "tid"), (Numbers{9}));
}

TEST_F(HostSamples, OfTheMachineKeepWhatIsKnown) {
  mlrun_machine_sample row{};
  std::fill(std::begin(row.values), std::end(row.values), MLRUN_NOT_KNOWN);
  row.monotonic_ns = kStartNs + 1000;
  row.interval_ns = 900;
  row.values[MLRUN_MACHINE_USER_NS] = 5;
  row.values[MLRUN_MACHINE_SYSTEM_NS] = 6;
  row.values[MLRUN_MACHINE_IDLE_NS] = 7;
  mlrun_machine_sample more = row;
  more.values[MLRUN_MACHINE_THROTTLED_NS] = 8;
  merge({payload_of<mlrun_machine_sample>(MLRUN_SAMPLE_MACHINE, {row, more})});
  EXPECT_EQ(folder_.numbers("sample_machine", "ts"), (Numbers{kStartNs + 100, kStartNs + 100}));
  EXPECT_EQ(folder_.numbers("sample_machine", "busy_ns"), (Numbers{11, 11}));
  EXPECT_EQ(folder_.numbers("sample_machine", "idle_ns"), (Numbers{7, 7}));
  EXPECT_EQ(folder_.numbers("sample_machine", "throttled_ns").back(), 8);
}

TEST_F(HostSamples, ThatBreakTheRulesAreCounted) {
  std::string cut = payload_of<mlrun_thread_sample>(MLRUN_SAMPLE_THREAD, {thread_row(100, 0, 50, true, "main")});
  cut.pop_back();
  std::string unknown = payload_of<mlrun_thread_sample>(77, {thread_row(100, 0, 50, true, "main")});
  merge({cut, unknown, std::string(3, 'x')});
  EXPECT_EQ(folder_.numbers("loss", "count"), (Numbers{1}));
  EXPECT_EQ(folder_.numbers("sample_thread", "ts"), Numbers());
}

// A row of a version without its end.
TEST_F(HostSamples, ThatAreShorterLackTheirEnd) {
  const __u32 bytes = offsetof(mlrun_thread_sample, run_ns);
  merge({payload_of<mlrun_thread_sample>(MLRUN_SAMPLE_THREAD, {thread_row(100, 0, 50, true, "main")}, bytes)});
  EXPECT_EQ(folder_.numbers("sample_thread", "utime_ns"), (Numbers{10}));
  EXPECT_EQ(folder_.texts("sample_thread", "state"), (Texts{""}));
}

}  // namespace
}  // namespace mlrun
