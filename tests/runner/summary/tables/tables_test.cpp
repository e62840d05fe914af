// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/tables/tables.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/report/json/json.h"
#include "runner/report/text/text.h"
#include "runner/summary/tables/row_writer.h"
#include "runner/summary/tables/small_rows.h"
#include "tests/runner/summary/small_training.h"

namespace mlrun::summary {

// Tables as earlier versions wrote them.
struct OldGpuMemory {
  GpuMemorySummary is;
};
template <>
struct Columns<OldGpuMemory> {
  static constexpr const char* kTable = "summary_gpu_memory";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.is.proc_id);
    visitor("gpu_id", row.is.gpu_id);
    visitor("memory", row.is.memory);
    visitor("peak_bytes", row.is.peak_bytes);
    visitor("allocations", row.is.allocations);
    visitor("allocated_bytes", row.is.allocated_bytes);
    visitor("releases", row.is.releases);
    visitor("unmatched_releases", row.is.unmatched_releases);
    visitor("unseen_releases", row.is.unseen_releases);
    visitor("kept", row.is.kept);
    visitor("kept_bytes", row.is.kept_bytes);
    visitor("kept_late", row.is.kept_late);
    visitor("kept_late_bytes", row.is.kept_late_bytes);
    visitor("not_followed", row.is.not_followed);
  }
};
struct OldPython {
  PythonSummary is;
};
template <>
struct Columns<OldPython> {
  static constexpr const char* kTable = "summary_python";
  static void visit(auto& visitor, auto& row) {
    visitor("role", row.is.role);
    visitor("processes", row.is.processes);
    visitor("function", row.is.function);
    visitor("source", row.is.source);
    visitor("line", row.is.line);
    visitor("looks", row.is.samples);
    visitor("running", row.is.running);
  }
};
struct OldGpuIdle {
  GpuIdleSummary is;
};
template <>
struct Columns<OldGpuIdle> {
  static constexpr const char* kTable = "summary_gpu_idle";
  static void visit(auto& visitor, auto& row) {
    visitor("gpu_id", row.is.gpu_id);
    visitor("label", row.is.label);
    visitor("proc_id", row.is.proc_id);
    visitor("thread_id", row.is.thread_id);
    visitor("file_id", row.is.file_id);
    visitor("path", row.is.path);
    visitor("time_ns", row.is.time_ns);
    visitor("pieces", row.is.pieces);
    visitor("own_ns", row.is.split.own_ns);
    visitor("runq_ns", row.is.split.runq_ns);
    visitor("vfs_ns", row.is.split.vfs_ns);
    visitor("queue_ns", row.is.split.queue_ns);
    visitor("device_ns", row.is.split.device_ns);
    visitor("remote_ns", row.is.split.remote_ns);
    visitor("wait_ns", row.is.split.wait_ns);
  }
};

namespace {

namespace fs = std::filesystem;

class TablesTest : public ::testing::Test {
 protected:
  TablesTest()
      : folder_(fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~TablesTest() override { fs::remove_all(folder_); }

  void write(const Summary& summary) const {
    ASSERT_TRUE(write_tables(summary, folder_));
    ASSERT_TRUE(RowWriter::write(summary.phases, folder_));
    ASSERT_TRUE(RowWriter::write(summary.losses, folder_));
    ASSERT_TRUE(RowWriter::write(summary.coverage, folder_));
    ASSERT_TRUE(RowWriter::write(summary.left_out, folder_));
    std::ofstream(folder_ / "run.json") << *summary.run.document;
  }
  fs::path table_file(const char* table) const { return folder_ / "tables" / table / "part-00000.parquet"; }

  fs::path folder_;
};

TEST_F(TablesTest, GivesBackWhatWasWritten) {
  Summary summary = testing::small_training();
  summary.losses.push_back({"interposer", "arena full", 1, 2, 3, 4, 5, "records", -1, "mark"});
  summary.coverage.push_back({1, "bytes read", "by raw system calls", 5, 6});
  summary.left_out.push_back({1, "path rules", 2, 3, 4, 5});
  nlohmann::json document = *summary.run.document;
  document["options"] = {{"exclude", {"*.json"}}};
  summary.run = model::run_of(document);
  summary.files[0].misses = {4096, 8192};
  summary.directories[0].misses = {4096, 0};
  summary.heap_blocks_left_out = 7;
  summary.reread.page_counted_files = 8;
  write(summary);
  const auto read = read_tables(folder_);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(report::to_json(*read), report::to_json(summary));
  EXPECT_EQ(report::text(*read, "x", {}), report::text(summary, "x", {}));
  EXPECT_EQ(read->reread.page_counted_files, 8);
}

TEST_F(TablesTest, KeepsTheLatencyHistogramWhole) {
  const Summary summary = testing::small_training();
  write(summary);
  const auto read = read_tables(folder_);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->funcs.size(), summary.funcs.size());
  for (size_t i = 0; i < summary.funcs.size(); ++i) {
    for (const double q : {0.0, 0.3, 0.5, 0.9, 1.0}) {
      EXPECT_EQ(read->funcs[i].latency.quantile(q), summary.funcs[i].latency.quantile(q));
    }
  }
}

TEST_F(TablesTest, HoldsAnEmptySummary) {
  write(Builder().finish({}));
  const auto read = read_tables(folder_);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->calls, 0);
  EXPECT_TRUE(read->processes.empty());
}

TEST_F(TablesTest, NamesTheTableThatIsMissing) {
  write(testing::small_training());
  fs::remove_all(folder_ / "tables" / "summary_file");
  const auto read = read_tables(folder_);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text.find("summary_file"), std::string::npos) << read.error().text;
}

TEST_F(TablesTest, NamesTheFileThatIsDamaged) {
  write(testing::small_training());
  fs::resize_file(table_file("summary_func"), fs::file_size(table_file("summary_func")) / 2);
  const auto read = read_tables(folder_);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text.find("summary_func"), std::string::npos) << read.error().text;
}

TEST_F(TablesTest, NamesTheColumnOfAnotherVersion) {
  write(testing::small_training());
  fs::copy_file(table_file("summary_size"), table_file("summary_error"), fs::copy_options::overwrite_existing);
  const auto read = read_tables(folder_);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text.find("column 'number' is missing"), std::string::npos) << read.error().text;
}

TEST_F(TablesTest, OfEarlierVersionsAreReadWithoutTheColumnsThatCameLater) {
  write(testing::small_training());
  GpuMemorySummary memory;
  memory.proc_id = 1;
  memory.memory = "device";
  memory.allocations = 3;
  memory.not_followed = 2;
  GpuIdleSummary idle;
  idle.label = "cpu";
  idle.split.wait_ns = 7;
  PythonSummary line;
  line.function = "fetch";
  line.samples = 9;
  ASSERT_TRUE(RowWriter::write(std::vector<OldGpuMemory>{{memory}}, folder_));
  ASSERT_TRUE(RowWriter::write(std::vector<OldGpuIdle>{{idle}}, folder_));
  ASSERT_TRUE(RowWriter::write(std::vector<OldPython>{{line}}, folder_));
  EarlierFileAccessRow transfers;
  transfers.pattern = "forward";
  transfers.count.calls = 11;
  ASSERT_TRUE(RowWriter::write(std::vector<EarlierFileAccessRow>{{transfers}}, folder_));
  fs::remove_all(fs::path(folder_) / "tables" / "summary_file_access");
  const auto read = read_tables(folder_);
  ASSERT_TRUE(read) << read.error().text;
  ASSERT_EQ(read->gpu_memory.size(), 1u);
  EXPECT_EQ(read->gpu_memory[0].allocations, 3);
  EXPECT_EQ(read->gpu_memory[0].not_followed, 2);
  EXPECT_EQ(read->gpu_memory[0].context, 0);
  ASSERT_EQ(read->gpu_idle.size(), 1u);
  EXPECT_EQ(read->gpu_idle[0].split.wait_ns, 7);
  EXPECT_TRUE(read->gpu_idle[0].python_line.empty());
  EXPECT_TRUE(read->gpu_idle[0].func.empty());
  ASSERT_EQ(read->python.size(), 1u);
  EXPECT_EQ(read->python[0].samples, 9);
  EXPECT_EQ(read->file_access[size_t(Direction::kRead)].forward.calls, 11);
  EXPECT_FALSE(report::text(*read, "x", {}).empty());
}

TEST_F(TablesTest, RefusesADamagedRunFile) {
  write(testing::small_training());
  std::ofstream(folder_ / "run.json") << "{\"command\": [";
  const auto read = read_tables(folder_);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text.find("is damaged: run.json"), std::string::npos) << read.error().text;
}

// Bytes flipped one after another: an error or other figures, never a crash.
TEST_F(TablesTest, SurvivesFlippedBytes) {
  write(testing::small_training());
  const fs::path path = table_file("summary_latency");
  std::ifstream in(path, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = char(bad[at] ^ 0x5a);
    std::ofstream(path, std::ios::binary) << bad;
    const auto read = read_tables(folder_);
    if (read) {
      EXPECT_FALSE(report::text(*read, "", {}).empty());
    } else {
      EXPECT_FALSE(read.error().text.empty());
    }
  }
}

}  // namespace
}  // namespace mlrun::summary
