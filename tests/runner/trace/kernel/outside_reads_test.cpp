// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/outside_reads.h"

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

TEST(OutsideReads, ReportBytesReadOutsideOfCallsAboveAThreshold) {
  mlrun_bio_fragment fragment{};
  fragment.op = MLRUN_BLOCK_READ;
  fragment.request = 1;
  fragment.bytes = 1 << 20;
  model::TraceInfo info;
  model::FileRow file;
  info.files.push_back(file);
  file.path = "/data/mapped";
  info.files.push_back(file);
  OutsideReads reads;
  EXPECT_EQ(reads.add(fragment, 0, false), 0);
  reads.add_row(info);
  EXPECT_TRUE(info.coverage.empty());
  EXPECT_EQ(reads.add(fragment, 2, true), 256) << "pages";
  fragment.request = 0;
  EXPECT_EQ(reads.add(fragment, 0, true), 0) << "a bio of a stacked device";
  fragment.request = 2;
  fragment.op = MLRUN_BLOCK_WRITE;
  EXPECT_EQ(reads.add(fragment, 0, true), 0);
  reads.add_row(info);
  ASSERT_EQ(info.coverage.size(), 1u);
  EXPECT_EQ(info.coverage[0].seen, 1 << 20);
  EXPECT_EQ(info.coverage[0].kernel, 2 << 20);
  EXPECT_TRUE(info.coverage[0].detail.ends_with("; of /data/mapped (1.00 MiB)")) << info.coverage[0].detail;
}

}  // namespace
}  // namespace mlrun::trace
