// SPDX-License-Identifier: Apache-2.0
// Tests that a slice whose files are already written is skipped, and that the kernel side gets its calls as if it were written
// now.
#include "runner/trace/merge/table_files.h"

#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "tests/runner/trace/joined_rows.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun::trace {
namespace {

constexpr uint32_t kThreads = 5;
constexpr int64_t kCalls = 2 * tables::kRowGroupRows + 1000, kFirstCallId = 71;

// Rows for several row groups, in order of their ends; some begin long before. Every tenth is not listed.
void fill(SliceRows& slice_rows) {
  std::mt19937_64 random(5);
  for (int64_t i = 0; i < kCalls; ++i) {
    const auto length = static_cast<int64_t>(random() % 1000 == 0 ? random() % 5'000'000 : random() % 90);
    const int64_t end_ns = 10'000'000 + 100 * i;
    slice_rows.calls.push_back(call(static_cast<uint32_t>(random() % kThreads), end_ns - length, length));
    if (i % 10 == 0) {
      ++slice_rows.folded_calls;
    } else {
      slice_rows.order.push_back({end_ns, static_cast<uint32_t>(i), RowKind::kCall});
    }
  }
}

void add_fragments(RecordCalls& fragments) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 20'000; ++i) {
    mlrun_bio_fragment fragment{};
    fragment.head.tid = static_cast<uint32_t>(random() % kThreads);
    fragment.queued_at_ns = 10'000'000 + random() % (100 * kCalls);
    fragments.add(fragment);
  }
  fragments.sort();
}

TEST(TableFileWriter, ReportsTheCallsOfASkippedSliceAsOfAWrittenOne) {
  const testing::TraceFolder folder;
  std::filesystem::create_directories(folder.path() + "/call");
  SliceRows slice_rows;
  fill(slice_rows);
  CallJoin written, passed;
  for (CallJoin* join : {&written, &passed}) add_fragments(join->fragments);
  TableFileWriter writer(folder.path(), false, &written), passer(folder.path(), false, &passed);
  ASSERT_TRUE(writer.write(slice_rows, 1, kFirstCallId));
  passer.pass(slice_rows, kFirstCallId);
  size_t found = 0;
  for (size_t fragment = 0; fragment < 20'000; ++fragment) {
    ASSERT_EQ(written.fragments.call_of(fragment), passed.fragments.call_of(fragment)) << fragment;
    found += written.fragments.call_of(fragment) != 0 ? 1 : 0;
  }
  EXPECT_GT(found, 1000u);
}

TEST(TableFileWriter, WritesNothingOfASkippedSlice) {
  const testing::TraceFolder folder;
  SliceRows slice_rows;
  fill(slice_rows);
  CallJoin join;
  TableFileWriter(folder.path(), false, &join).pass(slice_rows, 1);
  TableFileWriter(folder.path(), false).pass(slice_rows, 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace mlrun::trace
