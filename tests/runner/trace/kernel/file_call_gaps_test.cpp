// SPDX-License-Identifier: Apache-2.0
// Tests coverage of file operations that were recorded by system calls.
#include "runner/trace/kernel/file_call_gaps.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::trace {
namespace {

using nlohmann::json;

std::vector<model::CoverageRow> rows_of(const json& kernel_side) {
  const model::Run session = model::run_of({{"kernel_side", kernel_side}});
  model::TraceInfo info;
  add_file_call_gaps(session, info);
  return info.coverage;
}

TEST(FileCallGaps, OperationsWithoutASystemCallAreReported) {
  const auto rows = rows_of(json::parse(R"({"signals": [{"signal": "file operations", "mechanism": "tracepoint"}]})"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NE(rows[0].detail.find("page faults"), std::string::npos);
}

TEST(FileCallGaps, CallsOf32BitProgramsAreCounted) {
  const auto rows = rows_of(json::parse(
      R"({"signals": [{"signal": "file operations", "mechanism": "tracepoint"}], "unseen_32bit_calls": 7})"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].seen, -1) << "which of them were on a file is not known";
  EXPECT_EQ(rows[1].kernel, 7);
}

TEST(FileCallGaps, FunctionsOfTheKernelHaveNone) {
  EXPECT_TRUE(rows_of(json::parse(R"({"signals": [{"signal": "file operations", "mechanism": "fentry"}]})")).empty());
  EXPECT_TRUE(rows_of(json::parse(R"({"signals": [{"signal": "file operations", "mechanism": null}]})")).empty());
  EXPECT_TRUE(rows_of(json::parse(R"({"signals": [{"signal": "waits", "mechanism": "tracepoint"}, 7]})")).empty());
}

}  // namespace
}  // namespace mlrun::trace
