// SPDX-License-Identifier: Apache-2.0
// Tests coverage of file systems that were mounted during a run.
#include "runner/trace/files/late_mounts.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::trace {
namespace {

using nlohmann::json;

std::vector<std::string> rows_of(const json& programs) {
  const model::Run session = model::run_of({{"kernel_side", {{"programs", programs}}}});
  model::TraceInfo info;
  add_late_mounts(session, info);
  std::vector<std::string> rows;
  for (const model::CoverageRow& row : info.coverage) rows.push_back(row.subject + ": " + row.detail);
  return rows;
}

TEST(LateMounts, AFileSystemIsRecordedFromItsLastFunctionOn) {
  const json programs = json::parse(R"([
    {"event": "ext4_file_read_iter", "mechanism": "fentry"},
    {"event": "xfs_file_read_iter", "mechanism": "fentry", "file_system": "xfs", "since_ns": 10},
    {"event": "xfs_file_fsync", "mechanism": "fentry", "file_system": "xfs", "since_ns": 30},
    {"event": "xfs_file_write_iter", "mechanism": "fentry", "file_system": "xfs", "since_ns": 20}])");
  EXPECT_EQ(rows_of(programs), std::vector<std::string>{
                                   "operations on files of xfs: first mounted during the run; recorded from 30 ns on"});
}

TEST(LateMounts, FailedAttachmentsAreReported) {
  const json programs = json::parse(R"([
    {"event": "a", "mechanism": null, "missing": "kprobe: refused", "file_system": "btrfs", "since_ns": 10},
    {"event": "b", "mechanism": "kprobe", "file_system": "f2fs", "since_ns": 20},
    {"event": "c", "mechanism": null, "missing": "no memory", "file_system": "f2fs", "since_ns": 30}])");
  EXPECT_EQ(
      rows_of(programs),
      (std::vector<std::string>{
          "operations on files of btrfs: first mounted during the run; some operations are not recorded: kprobe: "
          "refused",
          "operations on files of f2fs: first mounted during the run; recorded from 30 ns on; some operations are not "
          "recorded: no memory"}));
}

TEST(LateMounts, ADamagedSessionDoesNoHarm) {
  EXPECT_TRUE(
      rows_of(json::parse(R"([1, {"file_system": 7, "since_ns": 1}, {"file_system": "xfs", "since_ns": "now"}])"))
          .empty());
  EXPECT_TRUE(rows_of("none").empty());
}

}  // namespace
}  // namespace mlrun::trace
