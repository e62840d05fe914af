// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/library_report.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::trace {
namespace {

using nlohmann::json;

std::vector<std::string> gaps(const json& report) {
  const model::Run session = model::run_of({{"options", {{"streams", {"cuda"}}}}, {"kernel_side", {{"cuda", report}}}});
  const LibraryReport library(session, session.kernel_side.cuda, "cuda", "libcuda");
  EXPECT_TRUE(library.is_observed());
  model::TraceInfo info;
  library.add_gaps(info, "before", "of these");
  std::vector<std::string> rows;
  for (const model::CoverageRow& row : info.coverage) rows.push_back(row.subject + ": " + row.detail);
  return rows;
}

TEST(LibraryReport, ProcessesAndDetachedProbesAreReported) {
  EXPECT_EQ(gaps(json::parse(R"({"libraries": [
              {"pid": 4, "path": "/a", "functions": 3, "was_there": true},
              {"pid": 5, "path": "/b", "functions": 0, "missing": "no symbols"}],
              "detached": [{"function": "cuInit", "calls_per_second": 9}]})")),
            (std::vector<std::string>{
                "calls of libcuda: process 5, /b: no symbols",
                "before: processes had libcuda loaded when mlrun attached to them: of these",
                "calls of cuInit: its probe was detached: 9 calls a second in all processes could have slowed them"}));
}

TEST(LibraryReport, AMissingReportOrProcessHasARow) {
  ASSERT_EQ(gaps(nullptr).size(), 1U);
  EXPECT_NE(gaps(nullptr)[0].find("mlrun was killed"), std::string::npos);
  EXPECT_EQ(gaps(json::object()),
            std::vector<std::string>{"calls of libcuda: no observed process had the library mapped"});
}

TEST(LibraryReport, ValuesOfOtherTypesAreLeftOut) {
  EXPECT_TRUE(gaps(json::parse(R"({"libraries": [{"pid": "4", "path": null, "functions": true, "was_there": 1}, 7],
              "detached": [{"function": 7, "calls_per_second": "9"}], "put_off": [2]})"))
                  .empty());
}

}  // namespace
}  // namespace mlrun::trace
