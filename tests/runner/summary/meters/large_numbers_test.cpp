// SPDX-License-Identifier: Apache-2.0
// Rows of a damaged trace: each number is representable, but their sums overflow.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/events/call_layout.h"
#include "runner/events/record.h"
#include "runner/report/json/json.h"
#include "runner/report/text/text.h"
#include "runner/summary/meters/builder.h"

namespace mlrun::summary {
namespace {

constexpr int64_t kLongNs = int64_t{1} << 61, kManyBytes = int64_t{1} << 55, kFarOffset = int64_t{1} << 62;
constexpr int kRows = 600;

model::CallRow read_at(int64_t offset) {
  model::CallRow row;
  row.origin = {.ts_ns = 1000, .proc_id = 1, .image_id = 1, .thread_id = 1};
  row.dur_ns = kLongNs;
  row.func = events::func::k_pread;
  row.file_id = 1;
  row.file_kind = model::FileKind::kRegular;
  row.ofd_id = 1;
  row.offset = offset;
  row.offset_source = model::OffsetSource::kArgument;
  row.requested = INT64_MAX;
  row.ret = kManyBytes;
  row.stack_id = 1;
  return row;
}

model::AllocRow large_block(uint64_t address) {
  model::AllocRow row;
  row.origin = {.ts_ns = 1000, .proc_id = 1, .image_id = 1, .thread_id = 1};
  row.op = MLRUN_MALLOC;
  row.dur_ns = kLongNs;
  row.address = address;
  row.size = row.usable = int64_t{1} << 47;
  return row;
}

model::TraceInfo info_of_one_file() {
  model::TraceInfo info;
  model::FileRow file;
  file.path = file.raw_path = "/file";
  file.kind = "regular";
  info.files.push_back(file);
  for (const char* reason : {"one", "two"}) {
    info.losses.push_back({.channel = "x", .reason = reason, .count = INT64_MAX, .unit = "records", .kind = ""});
    info.losses.push_back({.channel = "x", .reason = reason, .count = INT64_MAX, .unit = "records", .kind = ""});
    info.left_out.push_back({1, reason, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX});
  }
  return info;
}

TEST(LargeNumbersTest, StayAtTheLargestNumber) {
  Builder builder;
  for (int i = 0; i < kRows; ++i) builder.add(read_at(i % 2 == 0 ? 0 : kFarOffset));
  const Summary summary = builder.finish(info_of_one_file());
  const Totals files = summary.totals(Group::kFiles);
  EXPECT_EQ(files.calls, kRows);
  EXPECT_EQ(files.time_ns, INT64_MAX);
  EXPECT_EQ(files.bytes_read, INT64_MAX);
  ASSERT_EQ(summary.funcs.size(), 1u);
  EXPECT_EQ(summary.funcs[0].time_ns, INT64_MAX);
  EXPECT_EQ(summary.reread.bytes_read, INT64_MAX);
}

TEST(LargeNumbersTest, OfHeapBytesStayAtTheLargestNumber) {
  Builder builder;
  constexpr uint64_t kBlocks = 1 << 17;
  for (uint64_t block = 1; block <= kBlocks; ++block) builder.add(large_block(block * 16));
  const Summary summary = builder.finish({});
  ASSERT_EQ(summary.processes.size(), 1u);
  EXPECT_EQ(summary.processes[0].heap_peak.bytes(), INT64_MAX);
}

TEST(LargeNumbersTest, CanBeShown) {
  Builder builder;
  for (int i = 0; i < kRows; ++i) builder.add(read_at(0));
  const Summary summary = builder.finish(info_of_one_file());
  const auto json = report::to_json(summary);
  EXPECT_EQ(json["sizes"][0]["high_bytes"], INT64_MAX);
  EXPECT_NE(report::text(summary, "trace", report::TextStyle{}, report::Extent::kFull).find("pread"),
            std::string::npos);
}

}  // namespace
}  // namespace mlrun::summary
