// SPDX-License-Identifier: Apache-2.0
// Tests page cache misses of reads: summed by file and directory, in the text and in JSON, and absent where unknown.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/report/json/json.h"
#include "runner/report/text/text.h"
#include "tests/runner/summary/small_training.h"

namespace mlrun::summary {
namespace {

using namespace testing;

constexpr int64_t kPage = 4096;

Summary training(bool has_page_cache) {
  BuilderOptions options;
  options.start_ns = kStart;
  options.has_page_cache = has_page_cache;
  Builder builder(options);
  builder.add(transfer(1, kRead, kCaseA, 11, 1, 1'000'000, 0, 4 * kPage));
  builder.add(transfer(1, kRead, kCaseA, 11, 2, 1'000'000, 4 * kPage, 4 * kPage));
  builder.add(transfer(1, kRead, kCaseB, 12, 3, 1'000'000, 0, 2 * kPage));
  if (has_page_cache) {
    builder.add_misses(kCaseA, 4, 3);
    builder.add_misses(kCaseA, 1, 0);
    builder.add_misses(kCaseB, 0, 0);
  }
  return builder.finish(small_training_info());
}

const FileSummary& file(const Summary& summary, int64_t file_id) {
  for (const FileSummary& file : summary.files) {
    if (file.file_id == file_id) return file;
  }
  ADD_FAILURE() << "no file " << file_id;
  return summary.files.front();
}

TEST(CacheMissesTest, AreSummedUpByFileAndDirectory) {
  const Summary summary = training(true);
  EXPECT_EQ(file(summary, kCaseA).misses.missing_bytes, 5 * kPage);
  EXPECT_EQ(file(summary, kCaseA).misses.ahead_bytes, 3 * kPage);
  ASSERT_TRUE(file(summary, kCaseB).misses.known());
  EXPECT_EQ(file(summary, kCaseB).misses.bytes(), 0) << "all of it was there";
  ASSERT_EQ(summary.directories.size(), 1u);
  EXPECT_EQ(summary.directories[0].misses.bytes(), 8 * kPage);
}

TEST(CacheMissesTest, AreShownBesideTheBytesReadWithinTheWidth) {
  const Summary summary = training(true);
  report::TextStyle style;
  style.width = 80;
  const std::string text = report::files_text(summary, style);
  std::istringstream lines(text);
  std::string head, case_a;
  std::getline(lines, head);
  EXPECT_NE(head.find("read  uncached"), std::string::npos) << text;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(report::text_width(line), 80u) << text;
    if (line.find(file(summary, kCaseA).path) != std::string::npos) case_a = line;
  }
  EXPECT_NE(case_a.find("32.0 KiB  32.0 KiB"), std::string::npos) << "eight pages of eight\n" << text;
  EXPECT_EQ(report::to_json(summary)["files"][0]["missing_bytes"], 5 * kPage);
  EXPECT_EQ(report::to_json(summary)["files"][0]["ahead_bytes"], 3 * kPage);
}

TEST(CacheMissesTest, AreUnknownIfThePageCacheWasNotObserved) {
  const Summary summary = training(false);
  EXPECT_FALSE(file(summary, kCaseA).misses.known());
  EXPECT_EQ(report::files_text(summary, report::TextStyle()).find("uncached"), std::string::npos);
  EXPECT_TRUE(report::to_json(summary)["files"][0]["missing_bytes"].is_null());
  EXPECT_TRUE(report::to_json(summary)["directories"][0]["ahead_bytes"].is_null());
}

}  // namespace
}  // namespace mlrun::summary
