// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/store/figures_table.h"

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/parquet/parquet_table.h"
#include "runner/util/text.h"

namespace mlrun::sweep {
namespace {

using trace::DoubleColumn;
using trace::ParquetTable;
using trace::TextColumn;

// A parameter's value in a run: the configuration's own takes the place of the matrix's.
const std::string* parameter_of(const Sweep& sweep, const RunRow& run, const std::string& name) {
  for (const Parameters* from : {&sweep.configurations[run.planned.configuration].parameters,
                                 &sweep.workloads[run.planned.workload].parameters}) {
    const auto found = from->find(name);
    if (found != from->end()) return &found->second;
  }
  return nullptr;
}

// The columns that every sweep has.
class RunColumns {
 public:
  explicit RunColumns(ParquetTable& table)
      : id_(table.int64("run_id")),
        folder_(table.text("folder")),
        configuration_(table.text("configuration")),
        workload_(table.text("workload")),
        block_(table.int32("block")),
        position_(table.int32("position")),
        attempt_(table.int32("attempt")),
        state_(table.text("state")),
        exit_status_(table.optional_int32("exit_status")),
        started_ns_(table.optional_int64("started_ns")) {}

  void add(const Sweep& sweep, const RunRow& run) {
    id_.add(run.id);
    folder_.add(util::escaped_utf8(run.planned.folder));
    configuration_.add(util::escaped_utf8(sweep.configurations[run.planned.configuration].name));
    workload_.add(util::escaped_utf8(sweep.workloads[run.planned.workload].key));
    block_.add(run.planned.block);
    position_.add(run.planned.position);
    attempt_.add(run.attempt);
    state_.add(state_name(run.state));
    run.exit_status ? exit_status_.add(*run.exit_status) : exit_status_.add_null();
    started_ns_.add_unless(0, run.started_realtime_ns);
  }

 private:
  trace::Int64Column& id_;
  TextColumn &folder_, &configuration_, &workload_;
  trace::Int32Column &block_, &position_, &attempt_;
  TextColumn& state_;
  trace::Int32Column& exit_status_;
  trace::Int64Column& started_ns_;
};

// One column for each name that any run has.
class ValueColumns {
 public:
  ValueColumns(ParquetTable& table, const Sweep& sweep, Figures RunRow::*values, const std::string& prefix)
      : values_(values) {
    std::set<std::string> names;
    for (const RunRow& run : sweep.runs) {
      for (const auto& [name, value] : run.*values) names.insert(name);
    }
    for (const std::string& name : names) columns_.emplace_back(name, &table.optional_real(prefix + name));
  }

  void add(const RunRow& run) {
    for (const auto& [name, column] : columns_) {
      const auto found = (run.*values_).find(name);
      found == (run.*values_).end() ? column->add_null() : column->add(found->second);
    }
  }

 private:
  Figures RunRow::*values_;
  std::vector<std::pair<std::string, DoubleColumn*>> columns_;
};

}  // namespace

Status write_figures(const Sweep& sweep) {
  ParquetTable table("figures");
  RunColumns runs(table);
  std::set<std::string> parameters;
  for (const Workload& workload : sweep.workloads) {
    for (const auto& [name, value] : workload.parameters) parameters.insert(name);
  }
  for (const Configuration& configuration : sweep.configurations) {
    for (const auto& [name, value] : configuration.parameters) parameters.insert(name);
  }
  std::vector<std::pair<std::string, TextColumn*>> parameter_columns;
  for (const std::string& name : parameters) {
    parameter_columns.emplace_back(name, &table.optional_text("parameter_" + util::escaped_utf8(name)));
  }
  ValueColumns figures(table, sweep, &RunRow::figures, ""), machine(table, sweep, &RunRow::machine, "machine_");
  if (Status opened = table.open((std::filesystem::path(sweep.folder) / kFiguresFile).string()); !opened) return opened;
  for (const RunRow& run : sweep.runs) {
    runs.add(sweep, run);
    for (const auto& [name, column] : parameter_columns) {
      const std::string* value = parameter_of(sweep, run, name);
      value != nullptr ? column->add(util::escaped_utf8(*value)) : column->add_null();
    }
    figures.add(run);
    machine.add(run);
    table.row_added();
    if (!table.full()) continue;
    if (Status ended = table.end_row_group(); !ended) return ended;
  }
  const auto closed = table.close();
  if (!closed) return tl::make_unexpected(closed.error());
  return {};
}

}  // namespace mlrun::sweep
