// SPDX-License-Identifier: Apache-2.0
#include "runner/view/table_columns.h"

#include <algorithm>
#include <array>
#include <utility>

#include <arrow/api.h>

#include "runner/view/known_names.h"

namespace mlrun::view {
namespace {

struct Usual {
  const char* table;
  std::vector<std::string> columns;
};

// The most useful columns that fit a screen, for tables with more columns.
const std::array<Usual, 15> kUsual = {{
    {"call", {"ts", "dur", "pid", "comm", "func", "path", "offset", "requested", "ret", "error"}},
    {"alloc", {"ts", "pid", "comm", "op", "addr", "size", "usable", "library"}},
    {"process", {"proc_id", "parent_proc_id", "pid", "role", "rank", "first", "last", "command"}},
    {"file", {"file_id", "kind", "file_system", "path"}},
    {"stack", {"stack_id", "depth", "frame", "ending"}},
    {"frame", {"frame_id", "function", "library", "source", "line", "state"}},
    {"sample_gpu",
     {"ts", "gpu", "sm_percent", "mem_percent", "fb_used_bytes", "power_mw", "temperature_c", "sm_clock_mhz",
      "throttle"}},
    {"python_stack", {"ts", "dur", "pid", "comm", "samples", "state", "period_ns", "python_line", "stack_id"}},
    {"sample_thread",
     {"ts", "dur", "pid", "tid", "comm", "state", "run_ns", "runq_ns", "utime_ns", "stime_ns", "majflt"}},
    {"sample_machine",
     {"ts", "dur", "busy_ns", "idle_ns", "iowait_ns", "steal_ns", "running", "cpus_allowed", "cpu_some_ns",
      "io_some_ns", "throttled_ns"}},
    {"sample_disk",
     {"ts", "dur", "device", "reads", "read_bytes", "read_ns", "writes", "written_bytes", "write_ns", "busy_ns",
      "queue_ns"}},
    {"sample_net",
     {"ts", "dur", "interface", "rx_bytes", "rx_packets", "rx_dropped", "tx_bytes", "tx_packets", "tx_dropped"}},
    {"sample_memory",
     {"ts", "dur", "node", "free_bytes", "available_bytes", "cached_bytes", "anon_bytes", "numa_hit", "numa_miss",
      "faults", "memory_some_ns"}},
    {"sample_process",
     {"ts", "dur", "pid", "tid", "comm", "state", "utime_ns", "stime_ns", "minflt", "rss_bytes", "read_bytes"}},
    {"sample_gpu_process", {"ts", "gpu", "type", "pid", "command", "sm_percent", "mem_percent", "fb_used_bytes"}},
}};

}  // namespace

TableColumns::TableColumns(std::string trace_folder, std::string table, std::shared_ptr<arrow::Schema> schema)
    : table_(std::move(table)), schema_(std::move(schema)), names_(std::move(trace_folder)) {}

bool TableColumns::stored(const std::string& name) const { return schema_->GetFieldByName(name) != nullptr; }

// No replacement for ids in the table that defines them, or if the name column is stored in the table itself.
const NamedId* TableColumns::replacement(const std::string& id_column) const {
  const NamedId* named = named_id(id_column);
  if (!named || stored(named->name_column)) return nullptr;
  const bool defines = named->table && table_ == named->table && std::string(named->table_id) == id_column;
  return defines ? nullptr : named;
}

Result<size_t> TableColumns::use(const std::string& name) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name() == name) return i;
  }
  std::string source = name;
  std::shared_ptr<const IdNames> names;
  if (!stored(name)) {
    const NamedId* named = named_id_by_name(name);
    const bool has = named && stored(named->id_column) && replacement(named->id_column) == named;
    if (!has) return unknown_name("table '" + table_ + "' has no column '" + name + "'", name, known());
    source = named->id_column;
    auto loaded = names_.load(*named);
    if (!loaded) return tl::make_unexpected(loaded.error());
    names = *std::move(loaded);
  }
  auto column = Column::make(name, source, *schema_->GetFieldByName(source)->type(), std::move(names));
  if (!column) return tl::make_unexpected(column.error());
  columns_.push_back(*std::move(column));
  return columns_.size() - 1;
}

std::vector<std::string> TableColumns::known() const {
  std::vector<std::string> out;
  for (const auto& field : schema_->fields()) {
    out.push_back(field->name());
    if (const NamedId* named = replacement(field->name())) out.emplace_back(named->name_column);
  }
  return out;
}

std::vector<std::string> TableColumns::usual(bool for_people) const {
  if (for_people) {
    for (const Usual& usual : kUsual) {
      if (table_ == usual.table) return {usual.columns.begin(), usual.columns.end()};
    }
  }
  std::vector<std::string> out;
  for (const auto& field : schema_->fields()) {
    if (field->name() == "end_min" || field->name() == "end_max")
      continue;  // for readers that skip row groups, of no use to people
    const NamedId* named = replacement(field->name());
    out.emplace_back(named ? named->name_column : field->name());
  }
  return out;
}

std::vector<std::string> TableColumns::sources() const {
  std::vector<std::string> out;
  for (const Column& column : columns_) {
    if (std::find(out.begin(), out.end(), column.source()) == out.end()) out.push_back(column.source());
  }
  return out;
}

void TableColumns::bind(const arrow::RecordBatch& batch) {
  for (Column& column : columns_) column.bind(batch);
}

}  // namespace mlrun::view
