// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/tables/tables.h"

#include <filesystem>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/summary/tables/answer_rows.h"
#include "runner/summary/tables/gpu_rows.h"
#include "runner/summary/tables/row_reader.h"
#include "runner/summary/tables/row_writer.h"
#include "runner/summary/tables/small_rows.h"
#include "runner/summary/tables/table_rows.h"
#include "runner/summary/tables/values.h"
#include "runner/util/file_io.h"

namespace mlrun::summary {
namespace {

using util::LogHistogram;

std::vector<ValueRow> value_rows(const Summary& summary) {
  std::vector<ValueRow> rows;
  const auto add = [&](const char* name, const char* unit, int64_t value, auto...) {
    rows.push_back({name, value, unit});
  };
  visit_values(summary, add);
  visit_values_of_answer(summary.answer, add);
  return rows;
}

std::vector<HeapRow> heap_rows(const Summary& summary) {
  std::vector<HeapRow> rows;
  for (const auto& process : summary.processes) {
    for (const auto& library : process.heap_libraries) rows.push_back({process.proc_id, library});
  }
  return rows;
}

std::vector<WaitRow> wait_rows(const Summary& summary) {
  std::vector<WaitRow> rows;
  for (const auto& process : summary.processes) {
    for (const auto& wait : process.waits) rows.push_back({process.proc_id, wait});
  }
  return rows;
}

std::vector<LatencyRow> latency_rows(const Summary& summary) {
  std::vector<LatencyRow> rows;
  for (const auto& func : summary.funcs) {
    for (size_t i = 0; i <= LogHistogram::bucket_of(func.latency.max()); ++i) {
      const int64_t calls = func.latency.bucket_count(i);
      if (calls == 0) continue;
      rows.push_back({func.func, func.group, LogHistogram::bucket_low(i), LogHistogram::bucket_low(i + 1), calls});
    }
  }
  return rows;
}

std::vector<FileAccessRow> file_access_rows(const Summary& summary) {
  std::vector<FileAccessRow> rows;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    visit_patterns(summary.file_access[size_t(direction)],
                   [&](const char* name, const FileAccessPattern::Count& count) {
                     rows.push_back({direction, name, count});
                   });
  }
  return rows;
}

std::vector<TimeRow> time_rows(const Summary& summary) {
  std::vector<TimeRow> rows;
  for (size_t i = 0; i < summary.timeline.size(); ++i) {
    rows.push_back({summary.start_ns + int64_t(i) * summary.bin_ns, summary.timeline[i]});
  }
  return rows;
}

uint32_t func_key(uint16_t func, Group group) { return uint32_t(func) << 8 | uint32_t(group); }

void put_funcs(std::vector<FuncRow> funcs, const std::vector<LatencyRow>& latencies, Summary& summary) {
  std::unordered_map<uint32_t, std::vector<int64_t>> buckets;
  for (const LatencyRow& row : latencies) {
    auto& counts = buckets[func_key(row.func, row.group)];
    const size_t index = LogHistogram::bucket_of(row.low_ns);
    if (index >= counts.size()) counts.resize(index + 1);
    counts[index] += row.calls;
  }
  for (FuncRow& row : funcs) {
    auto& counts = buckets[func_key(row.func.func, row.func.group)];
    row.func.latency = LogHistogram::restore(std::move(counts), row.min_ns, row.max_ns);
    summary.funcs.push_back(std::move(row.func));
  }
}

template <typename Row>
void put_file_access(const std::vector<Row>& rows, Summary& summary) {
  for (const Row& row : rows) {
    visit_patterns(summary.file_access[size_t(row.direction)], [&](const char* name, FileAccessPattern::Count& count) {
      if (row.pattern == name) count = row.count;
    });
  }
}

void put_values(const std::vector<ValueRow>& rows, Summary& summary) {
  const auto put = [&](const char* name, const char*, int64_t& value, auto...) {
    for (const ValueRow& row : rows) {
      if (row.name == name || (row.name == "driver_looks" && name == std::string_view("driver_samples")))
        value = row.value;  // traces of commits before 2026-11-28
    }
  };
  visit_values(summary, put);
  visit_values_of_answer(summary.answer, put);
}

// Gives each row to the process that it belongs to.
template <typename Row, typename Put>
void put_by_process(std::vector<Row> rows, Summary& summary, Put put) {
  std::unordered_map<int32_t, ProcessSummary*> by_id;
  for (ProcessSummary& process : summary.processes) by_id[process.proc_id] = &process;
  for (Row& row : rows) {
    if (const auto found = by_id.find(row.proc_id); found != by_id.end()) put(*found->second, row);
  }
}

// Older traces lack the table.
bool has_sites(const std::string& trace_folder) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(trace_folder) / "tables" / Columns<SiteSummary>::kTable, error);
}

// Reads tables in turn and keeps the first error.
class Loader {
 public:
  explicit Loader(std::string trace_folder) : trace_folder_(std::move(trace_folder)) {}

  template <typename Row>
  std::vector<Row> load() {
    if (!status_) return {};
    auto rows = RowReader::read<Row>(trace_folder_);
    if (rows) return *std::move(rows);
    status_ = tl::make_unexpected(rows.error());
    return {};
  }
  // Reads a table that older traces lack.
  template <typename Row>
  std::vector<Row> load_if_there() {
    std::error_code ignored;
    const auto table = std::filesystem::path(trace_folder_) / "tables" / Columns<Row>::kTable;
    return std::filesystem::exists(table, ignored) ? load<Row>() : std::vector<Row>();
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  std::string trace_folder_;
  Status status_;
};

}  // namespace

Status write_tables(const Summary& summary, const std::string& trace_folder) {
  Status status;
  const auto write = [&](const auto& rows) {
    if (status) status = RowWriter::write(rows, trace_folder);
  };
  write(value_rows(summary));
  write(summary.processes);
  write(heap_rows(summary));
  write(wait_rows(summary));
  write(summary.files);
  write(summary.directories);
  write(summary.trees);
  write(summary.phases);
  write(std::vector<FuncRow>(summary.funcs.begin(), summary.funcs.end()));
  write(latency_rows(summary));
  write(summary.errors);
  write(summary.sites);
  write(summary.sizes);
  write(file_access_rows(summary));
  write(time_rows(summary));
  write(summary.marks);
  write(summary.collectives);
  write(summary.gpus);
  write(summary.machine);
  write(summary.splits);
  write(summary.gpu_work);
  write(summary.gpu_kernels);
  write(summary.gpu_marks);
  write(summary.gpu_memory);
  write(summary.gpu_stacks);
  write(summary.gpu_hosts);
  write(summary.gpu_files);
  write(summary.torch_memory);
  write(summary.gpu_idle);
  write(summary.python);
  write(summary.answer.time);
  write(summary.answer.findings);
  write(summary.answer.waited_for);
  write(summary.answer.step_rows);
  return status;
}

Result<Summary> read_tables(const std::string& trace_folder) {
  Summary summary;
  auto run = model::read_run(trace_folder);
  if (!run) return tl::make_unexpected(run.error());
  summary.run = *std::move(run);
  Loader loader(trace_folder);
  put_values(loader.load<ValueRow>(), summary);
  summary.processes = loader.load<ProcessSummary>();
  put_by_process(loader.load<HeapRow>(), summary,
                 [](ProcessSummary& to, HeapRow& row) { to.heap_libraries.push_back(std::move(row.library)); });
  put_by_process(loader.load<WaitRow>(), summary,
                 [](ProcessSummary& to, WaitRow& row) { to.waits.push_back(std::move(row.wait)); });
  summary.files = loader.load<FileSummary>();
  summary.directories = loader.load<DirectorySummary>();
  summary.trees = loader.load_if_there<FileTree>();
  auto funcs = loader.load<FuncRow>();
  put_funcs(std::move(funcs), loader.load<LatencyRow>(), summary);
  summary.errors = loader.load<ErrorSummary>();
  summary.sites = has_sites(trace_folder) ? loader.load<SiteSummary>() : std::vector<SiteSummary>();
  summary.sizes = loader.load<SizeBucket>();
  put_file_access(loader.load_if_there<FileAccessRow>(), summary);
  put_file_access(loader.load_if_there<EarlierFileAccessRow>(), summary);
  for (const TimeRow& row : loader.load<TimeRow>()) summary.timeline.push_back(row.bin);
  summary.marks = loader.load_if_there<MarkSummary>();
  summary.collectives = loader.load_if_there<CollectiveSummary>();
  summary.gpus = loader.load_if_there<GpuSummary>();
  summary.machine = loader.load_if_there<MachineUse>();
  summary.splits = loader.load_if_there<SplitSummary>();
  summary.gpu_work = loader.load_if_there<GpuWorkSummary>();
  summary.gpu_kernels = loader.load_if_there<GpuKernelSummary>();
  summary.gpu_marks = loader.load_if_there<GpuMarkSummary>();
  summary.gpu_memory = loader.load_if_there<GpuMemorySummary>();
  summary.gpu_stacks = loader.load_if_there<GpuStackSummary>();
  summary.gpu_hosts = loader.load_if_there<GpuHostSummary>();
  summary.gpu_files = loader.load_if_there<GpuFileSummary>();
  summary.torch_memory = loader.load_if_there<TorchMemorySummary>();
  summary.gpu_idle = loader.load_if_there<GpuIdleSummary>();
  summary.python = loader.load_if_there<PythonSummary>();
  summary.answer.time = loader.load_if_there<TimeShare>();
  summary.answer.findings = loader.load_if_there<Finding>();
  summary.answer.waited_for = loader.load_if_there<WaitedFor>();
  summary.answer.step_rows = loader.load_if_there<StepRow>();
  summary.phases = loader.load<model::PhaseRow>();
  summary.losses = loader.load<model::LossRow>();
  summary.coverage = loader.load<model::CoverageRow>();
  summary.left_out = loader.load_if_there<model::LeftOutRow>();
  if (!loader.status()) return tl::make_unexpected(loader.status().error());
  return summary;
}

}  // namespace mlrun::summary
