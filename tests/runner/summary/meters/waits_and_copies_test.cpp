// SPDX-License-Identifier: Apache-2.0
// Tests that waits have their own figures, apart from I/O, and that only the file sides of a copy count.
#include <gtest/gtest.h>

#include "runner/events/call_layout.h"
#include "runner/report/text/text.h"
#include "runner/summary/meters/builder.h"

namespace mlrun::summary {
namespace {

namespace func = events::func;
using model::FileKind;

model::CallRow row_of(uint16_t func, int64_t dur_ns) {
  model::CallRow row;
  row.origin = {.ts_ns = 1000, .proc_id = 1, .image_id = 1, .thread_id = 1, .pid = 7, .tid = 7};
  row.func = func;
  row.dur_ns = dur_ns;
  return row;
}

model::CallRow copy(FileKind from, FileKind to, int64_t bytes) {
  model::CallRow row = row_of(func::k_sendfile, 1000);
  row.file_id = 1;
  row.ofd_id = 1;
  row.file_kind = from;
  row.offset = 0;
  row.offset_source = model::OffsetSource::kDerived;
  row.file2_id = 2;
  row.ofd2_id = 2;
  row.file2_kind = to;
  row.offset2 = 0;
  row.requested = row.ret = bytes;
  return row;
}

Summary summary_of(const std::vector<model::CallRow>& rows) {
  model::TraceInfo info;
  model::ProcessRow process;
  process.proc_id = 1;
  process.pid = 7;
  info.processes.push_back(process);
  for (const char* path : {"/data/a", "/data/b"}) {
    model::FileRow file;
    file.path = file.raw_path = path;
    file.kind = "regular";
    info.files.push_back(file);
  }
  Builder builder;
  for (const auto& row : rows) builder.add(row);
  return builder.finish(info);
}

TEST(WaitsAndCopies, WaitsAreNotIo) {
  auto on_epoll = row_of(func::k_epoll_wait, 5'000'000);
  on_epoll.file_id = 1;
  on_epoll.file_kind = FileKind::kEpoll;
  auto timed_out = row_of(func::k_sem_timedwait, 2'000'000);
  timed_out.ret = -1;
  timed_out.err = ETIMEDOUT;
  const Summary summary = summary_of({row_of(func::k_sem_timedwait, 1'000'000), on_epoll, timed_out});
  EXPECT_EQ(summary.totals(Group::kFiles).calls + summary.totals(Group::kChannels).calls, 0);
  EXPECT_EQ(summary.totals(Group::kWaits).time_ns, 8'000'000);
  ASSERT_EQ(summary.processes[0].waits.size(), 2u);
  EXPECT_EQ(summary.processes[0].waits[0].name, "epoll_wait");
  EXPECT_EQ(summary.processes[0].waits[1].calls, 2);
  EXPECT_EQ(summary.processes[0].waits[1].time_ns, 3'000'000);
  const std::string text = report::waits_text(summary, report::TextStyle{});
  EXPECT_NE(text.find("main 8.00 ms (epoll_wait 5.00 ms, sem_timedwait 3.00 ms)"), std::string::npos) << text;
  EXPECT_EQ(report::calls_text(summary, report::TextStyle{}), "");
}

TEST(WaitsAndCopies, ACopyBetweenFilesIsReadAndWritten) {
  const Summary summary = summary_of({copy(FileKind::kRegular, FileKind::kRegular, 4096)});
  const Totals files = summary.totals(Group::kFiles);
  EXPECT_EQ(files.calls, 1);
  EXPECT_EQ(files.bytes_read, 4096);
  EXPECT_EQ(files.bytes_written, 4096);
  EXPECT_EQ(files.time_ns, 1000);
  ASSERT_EQ(summary.files.size(), 2u);
  EXPECT_EQ(summary.files[0].totals.bytes_read + summary.files[1].totals.bytes_read, 4096);
  EXPECT_EQ(summary.files[0].totals.bytes_written + summary.files[1].totals.bytes_written, 4096);
  EXPECT_EQ(summary.file_access[size_t(Direction::kWrite)].sequential.bytes, 4096);
  EXPECT_EQ(summary.reread.distinct_bytes, 4096);
}

TEST(WaitsAndCopies, ACopyIntoASocketReadsItsFile) {
  const Summary summary =
      summary_of({copy(FileKind::kRegular, FileKind::kSocket, 100), copy(FileKind::kPipe, FileKind::kRegular, 10),
                  copy(FileKind::kPipe, FileKind::kSocket, 1)});
  const Totals files = summary.totals(Group::kFiles), channels = summary.totals(Group::kChannels);
  EXPECT_EQ(files.bytes_read, 100);
  EXPECT_EQ(files.bytes_written, 10);
  EXPECT_EQ(channels.calls, 1);
  EXPECT_EQ(channels.bytes(), 2);
}

TEST(WaitsAndCopies, ACopyWithinAFolderIsOneCallOfIt) {
  const Summary summary = summary_of({copy(FileKind::kRegular, FileKind::kRegular, 4096)});
  ASSERT_EQ(summary.files.size(), 2u);
  EXPECT_EQ(summary.files[0].totals.time_ns, 1000) << "each file has it whole";
  EXPECT_EQ(summary.files[1].totals.time_ns, 1000);
  ASSERT_EQ(summary.directories.size(), 1u);
  EXPECT_EQ(summary.directories[0].totals.calls, 1);
  EXPECT_EQ(summary.directories[0].totals.time_ns, 1000);
  EXPECT_EQ(summary.directories[0].totals.bytes_read, 4096);
  EXPECT_EQ(summary.directories[0].totals.bytes_written, 4096);
}

}  // namespace
}  // namespace mlrun::summary
