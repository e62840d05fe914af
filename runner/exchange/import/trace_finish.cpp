// SPDX-License-Identifier: Apache-2.0
// The end of an import: the tables in the order in which the summary needs them, the summary, run.json.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/exchange/import/trace_maker.h"
#include "runner/exchange/import/trace_rows.h"
#include "runner/findings/answer.h"
#include "runner/model/run_keys.h"
#include "runner/parquet/parquet_table.h"
#include "runner/summary/meters/builder.h"
#include "runner/summary/tables/phase_times.h"
#include "runner/summary/tables/tables.h"
#include "runner/trace/gpu/gpu_tables.h"
#include "runner/trace/marks/mark_table.h"
#include "runner/trace/merge/call_tables.h"
#include "runner/trace/merge/optional_tables.h"
#include "runner/trace/merge/run_json.h"
#include "runner/trace/merge/small_tables.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

using nlohmann::json;

constexpr int64_t kGpuGroupRows = 32 * 1024;  // seven tables grow at once

const char* clock_name(FileClock clock) {
  switch (clock) {
    case FileClock::kRealtime: return "realtime";
    case FileClock::kMonotonic: return "monotonic";
    case FileClock::kUnknown: break;
  }
  return "unknown";
}

json account_json(const FileAccount& file) {
  json kept = json::object();
  for (const auto& [table, sum] : file.kept) kept[table] = {{"events", sum.events}, {"rows", sum.rows}};
  return {{"file", util::escaped_utf8(file.path)},
          {"format", file.format},
          {"clock", clock_name(file.clock)},
          {"events", file.events},
          {"kept", std::move(kept)},
          {"left_out", file.left_out},
          {"remarks", file.remarks},
          {"metadata", file.metadata}};
}

// Gives CallTable the functions that GroupWriter needs.
class CallRows {
 public:
  using Row = model::CallRow;
  tables::ParquetTable& parquet() { return table_.parquet(); }
  void add(const Row& row, const trace::GroupEnds& ends) {
    table_.set(ends);
    const Row* one = &row;
    table_.add({&one, 1}, ++made_);
  }

 private:
  trace::CallTable table_;
  int64_t made_ = 0;
};

}  // namespace

TraceMaker::~TraceMaker() = default;

// Fails if the files have times of different clocks, which cannot be in one trace.
Status TraceMaker::settle_clocks() {
  const FileAccount* first = nullptr;
  for (const auto& file : files_) {
    if (file->events == 0) continue;
    if (first == nullptr) first = file.get();
    const bool is_same = file->clock == first->clock && file->has_offset == first->has_offset &&
                         file->realtime_offset_ns == first->realtime_offset_ns;
    if (is_same) continue;
    return fail(fmt::format(
        "the times of {} and {} are of different clocks; import each by itself, then put them on one clock with "
        "mlrun merge",
        first->path, file->path));
  }
  return {};
}

Status TraceMaker::write_calls() {
  const auto none = [](model::CallRow&, const auto&) {};
  GroupWriter<CallRows, model::CallRow, 1> writer(none, tables::kRowGroupRows);
  if (Status opened = writer.open(rows_->staging.tables()); !opened) return opened;
  const auto put = [&](int64_t end_ns, char* stored) -> Status {
    const model::CallRow row = decltype(rows_->calls)::row_of(stored);
    builder_->add(row);
    ++rows_->calls_made;
    return writer.add_stored(end_ns, row, stored);
  };
  return write_groups(rows_->calls, writer, put);
}

int64_t TraceMaker::name_id(std::string_view name) {
  const int64_t id = ids_.name(name);
  if (id == 0) ++file().remarks["a name beyond 262,144 of kernels and marks, left out"];
  return id;
}

Status TraceMaker::write_gpu() {
  using Row = model::GpuWorkRow;
  const auto func = [](Row& row, const std::array<std::string_view, 1>& texts) { row.func = texts[0]; };
  const std::string tables = rows_->staging.tables();
  GroupWriter<trace::GpuApiTable, Row, 1> api(func, kGpuGroupRows);
  GroupWriter<trace::GpuKernelTable, Row, 1> kernels(func, kGpuGroupRows);
  GroupWriter<trace::GpuMemcpyTable, Row, 1> copies(func, kGpuGroupRows);
  GroupWriter<trace::GpuMemsetTable, Row, 1> memsets(func, kGpuGroupRows);
  GroupWriter<trace::GpuSyncTable, Row, 1> syncs(func, kGpuGroupRows);
  GroupWriter<trace::GpuMemoryTable, Row, 1> memories(func, kGpuGroupRows);
  GroupWriter<trace::GpuGraphTable, Row, 1> graphs(func, kGpuGroupRows);
  const auto with = [&](model::GpuKind kind, auto use) -> Status {
    switch (kind) {
      case model::GpuKind::kApi: return use(api);
      case model::GpuKind::kKernel: return use(kernels);
      case model::GpuKind::kMemcpy: return use(copies);
      case model::GpuKind::kMemset: return use(memsets);
      case model::GpuKind::kSync: return use(syncs);
      case model::GpuKind::kMemory: return use(memories);
      case model::GpuKind::kGraph: return use(graphs);
    }
    return {};
  };
  const auto with_all = [&](auto use) -> Status {
    for (size_t kind = 0; kind < model::kGpuKinds; ++kind) {
      if (Status used = with(static_cast<model::GpuKind>(kind), use); !used) return used;
    }
    return {};
  };
  if (Status opened = with_all([&](auto& writer) { return writer.open(tables); }); !opened) return opened;
  const auto put = [&](int64_t end_ns, const GpuFields& fields, const auto& texts) -> Status {
    Row whole = fields.row;
    whole.func = texts[0];
    whole.is_communication = whole.kind == model::GpuKind::kKernel && texts[0].find("nccl") != std::string_view::npos;
    if (whole.kind == model::GpuKind::kKernel) whole.name_id = name_id(texts[0]);
    const uint64_t key = static_cast<uint64_t>(fields.join) << 32 | whole.correlation;
    if (const Launch* launch =
            whole.correlation != 0 && model::is_on_device(whole.kind) ? rows_->launches.find(key) : nullptr) {
      const int64_t ts_ns = whole.origin.ts_ns;
      whole.origin = ids_.origin(ts_ns, launch->proc_id, launch->thread_id);
      whole.launch_ns = launch->ts_ns;
    }
    if (whole.kind != model::GpuKind::kMemory) rows_->gpu_work.add(whole);
    return with(whole.kind, [&](auto& writer) { return writer.add(end_ns, whole, texts); });
  };
  if (Status shown = rows_->gpu.for_each(put); !shown) return shown;
  return with_all([&](auto& writer) { return writer.close(); });
}

Status TraceMaker::write_marks() {
  trace::MarkTable table;
  if (Status opened = table.open_in(rows_->staging.tables()); !opened) return opened;
  int64_t marks = 0;
  const auto put = [&](int64_t, const MarkFields& fields, const auto& texts) -> Status {
    model::MarkRow row;
    row.origin = fields.origin;
    row.dur_ns = fields.dur_ns;
    row.error_ns = fields.error_ns;
    row.is_open = fields.is_open;
    row.mark_id = ++marks;
    row.domain = texts[0];
    row.name = texts[1];
    row.value = texts[2];
    row.scope = texts[3];
    row.name_id = name_id(row.name);
    if (row.domain != "mllog") rows_->mark_meter.add(row);
    table.add(row, {});
    return table.end_full_group();
  };
  if (Status shown = rows_->marks.for_each(put); !shown) return shown;
  return table.close();
}

void TraceMaker::fill_run(const std::vector<std::string>& command) {
  json& run = *info_.run;
  json files = json::array();
  std::map<std::string, int64_t> rows;
  int64_t events = 0;
  for (const auto& file : files_) {
    files.push_back(account_json(*file));
    for (const auto& [table, sum] : file->kept) rows[table] += sum.rows;
    for (const auto& [reason, count] : file->left_out) {
      info_.coverage.push_back({0, "events of " + util::escaped_utf8(util::base_name(file->path)), reason,
                                file->events - count, file->events, model::kUnseen});
    }
    for (const auto& [what, count] : file->remarks) {
      info_.coverage.push_back({0, "events of " + util::escaped_utf8(util::base_name(file->path)), what,
                                file->events - count, file->events, model::kRemark});
    }
  }
  for (const auto& [table, count] : rows) events += count;
  const FileAccount& first = *files_.front();
  run["command"] = command;
  run["imported"] = {{"files", std::move(files)}};
  run["schema_version"] = tables::kTraceSchemaVersion;
  run["start_ns"] = first_ns_;
  run["end_ns"] = last_ns_;
  run["wall_ns"] = last_ns_ - first_ns_;
  run["clock"] = {{"kind", clock_name(first.clock)}};
  if (first.has_offset) {
    run["clock"]["start"] = {{"monotonic_ns", first_ns_}, {"realtime_ns", first_ns_ + first.realtime_offset_ns}};
    run["clock"]["realtime_offset_start_ns"] = run["clock"]["realtime_offset_end_ns"] = first.realtime_offset_ns;
  }
  run["totals"] = {{"events", events},
                   {"calls", rows["call"]},
                   {"processes", info_.processes.size()},
                   {"images", info_.images.size()},
                   {"threads", info_.threads.size()},
                   {"files", info_.files.size()},
                   {"stacks", info_.stacks.stacks.size()},
                   {"frames", info_.stacks.frames.size()},
                   {"marks", rows["mark"]},
                   {"phases", info_.phases.size()},
                   {"gpus", info_.gpus.size()},
                   {"losses", 0},
                   {"coverage", info_.coverage.size()}};
  run["losses"] = json::array();
  std::vector<model::RunCoverage> coverage;
  for (const model::CoverageRow& row : info_.coverage) coverage.push_back({row.level, row.subject, row.detail, 1});
  run["coverage"] = model::json_of(coverage);
}

Status TraceMaker::write_tables() {
  const std::string tables = rows_->staging.tables();
  builder_ = std::make_unique<summary::Builder>(
      summary::BuilderOptions{.start_ns = first_ns_, .phases = info_.phases, .undecided = {}, .files = &info_.files});
  const auto nothing = [](auto&) {};
  const auto settle = [&](auto& row) { row.stack_id = settled(row.stack_id); };
  const auto number = [&](model::SliceRow& row) {
    row.slice_id = ++rows_->slice_ids;
    settle(row);
  };
  Status done = rows_->slices.write(tables, number);
  if (done) done = rows_->flows.write(tables, nothing);
  if (done) done = rows_->counters.write(tables, nothing);
  if (done) done = rows_->samples.write(tables, settle);
  if (done) done = rows_->others.write(tables, settle);
  if (done && rows_->requests.size() != 0) done = rows_->requests.write(tables, nothing);
  if (done && rows_->fragments.size() != 0) done = rows_->fragments.write(tables, nothing);
  const auto hold = [&](trace::TorchMemoryTableRow& row) { builder_->add(row.row); };
  if (done && rows_->torch_memories.size() != 0) done = rows_->torch_memories.write(tables, hold);
  if (done) done = write_calls();
  if (done) done = write_gpu();
  return done ? write_marks() : done;
}

Status TraceMaker::finish(const std::vector<std::string>& command) {
  if (Status same = settle_clocks(); !same) return same;
  if (first_ns_ > last_ns_) first_ns_ = last_ns_ = 0;
  for (auto& row : info_.processes) {
    if (row.first_ns > row.last_ns) row.first_ns = row.last_ns = first_ns_;
  }
  for (auto& row : info_.threads) {
    if (row.first_ns > row.last_ns) row.first_ns = row.last_ns = first_ns_;
  }
  for (auto& row : info_.images) row.start_ns = info_.processes[static_cast<size_t>(row.proc_id) - 1].first_ns;
  if (Status written = write_tables(); !written) return written;
  fill_run(command);
  summary::Summary summary = builder_->finish(info_);
  summary.marks = rows_->mark_meter.finish(info_.names);
  summary.mark_records = rows_->mark_meter.records();
  summary.gpu_work = rows_->gpu_work.devices(info_.gpus);
  summary.gpu_kernels = rows_->gpu_work.kernels(info_.names);
  summary.gpu_calls = rows_->gpu_work.calls();
  summary::complete(info_, summary);
  const std::string folder = rows_->staging.path();
  Status done = trace::write_small_tables(info_, folder);
  const findings::AnswerOptions options{.has_rows = rows_->calls_made != 0};
  if (done) done = findings::answer(folder, summary.run, options, summary.answer);
  if (done) done = summary::add_phase_times(folder, summary.phases);
  if (done) done = summary::write_tables(summary, folder);
  if (done) done = trace::complete_tables(rows_->staging.tables(), *info_.run);
  if (done) done = rows_->staging.commit();
  if (!done) return done;
  const std::string trace_folder = folder.substr(0, folder.rfind('/'));
  return model::write_run(*info_.run, trace_folder);
}

}  // namespace mlrun::exchange
