// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/view/small_trace.h"

#include <cerrno>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/summary/tables/tables.h"
#include "runner/trace/merge/call_tables.h"
#include "runner/trace/merge/small_tables.h"
#include "tests/runner/summary/small_training.h"

namespace mlrun::view::testing {
namespace {

namespace fs = std::filesystem;
namespace st = summary::testing;

void require(const Status& status) {
  if (!status) throw std::runtime_error(status.error().text);
}

model::CallRow call(int64_t i) {
  const bool even = i % 2 == 0;
  model::CallRow row =
      st::call(even ? 2 : 1, even ? st::kRead : st::kStat, even ? st::kCaseA : st::kMissing, double(i) * 10, i * 1000);
  row.requested = i * 1024;
  row.ret = even ? i * 1024 : -1;
  row.err = even ? 0 : ENOENT;
  if (even) row.offset = i * 4096;
  return row;
}

int64_t end_ns(const model::CallRow& row) { return row.origin.ts_ns + row.dur_ns; }

void write_calls(const fs::path& folder) {
  fs::create_directories(folder / "tables" / "call");
  trace::CallTable table;
  require(table.parquet().open((folder / "tables" / "call" / "part-00000.parquet").string()));
  for (int64_t i = 0; i < kCalls; ++i) {
    const model::CallRow row = call(i);
    const model::CallRow* rows[] = {&row};
    table.add(rows, i + 1);
    if ((i + 1) % kCallsPerGroup != 0) continue;
    table.set({end_ns(call(i + 1 - kCallsPerGroup)), end_ns(call(i))});
    require(table.parquet().end_row_group());
  }
  if (auto closed = table.parquet().close(); !closed) throw std::runtime_error(closed.error().text);
}

}  // namespace

SmallTrace::SmallTrace() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  folder_ = fs::path(::testing::TempDir()) / (std::string(test->test_suite_name()) + "." + test->name());
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  model::TraceInfo info = st::small_training_info();
  const summary::Summary summary = st::small_training();
  summary::complete(info, summary);
  require(summary::write_tables(summary, folder()));
  require(trace::write_small_tables(info, folder()));
  write_calls(folder_);
  write_run(*info.run);
}

SmallTrace::~SmallTrace() { fs::remove_all(folder_); }

fs::path SmallTrace::table_file(const std::string& table) const {
  return folder_ / "tables" / table / "part-00000.parquet";
}

void SmallTrace::write_run(const nlohmann::json& run) const { std::ofstream(folder_ / "run.json") << run; }

}  // namespace mlrun::view::testing
