// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/store/figures_table.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/parquet/row_columns.h"
#include "runner/util/text.h"

namespace mlrun::sweep {
namespace {

// The columns that depend on the sweep: one for each name that any run has.
struct Names {
  std::set<std::string> parameters, figures, machine;
};

Names names_of(const Sweep& sweep) {
  Names names;
  const auto add = [](std::set<std::string>& to, const auto& values) {
    for (const auto& [name, value] : values) to.insert(name);
  };
  for (const Workload& workload : sweep.workloads) add(names.parameters, workload.parameters);
  for (const Configuration& configuration : sweep.configurations) add(names.parameters, configuration.parameters);
  for (const RunRow& run : sweep.runs) {
    add(names.figures, run.figures);
    add(names.machine, run.machine);
  }
  return names;
}

template <typename Value>
std::optional<Value> value_of(const std::map<std::string, Value>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

void visit_run(auto& visitor, const RunRow& run, const Configuration& configuration, const Workload& workload,
               const Names& names) {
  using util::escaped_utf8;
  visitor("run_id", run.id);
  visitor("folder", escaped_utf8(run.planned.folder));
  visitor("configuration", escaped_utf8(configuration.name));
  visitor("workload", escaped_utf8(workload.key));
  visitor("block", run.planned.block);
  visitor("position", run.planned.position);
  visitor("attempt", run.attempt);
  visitor("state", state_name(run.state));
  visitor.optional("exit_status", run.exit_status);
  visitor.optional("started_ns", run.started_realtime_ns, 0);
  for (const std::string& name : names.parameters) {
    // The configuration's own value takes the place of the matrix's.
    auto value = value_of(configuration.parameters, name);
    if (!value) value = value_of(workload.parameters, name);
    if (value) value = escaped_utf8(*value);
    visitor.optional("parameter_" + escaped_utf8(name), value);
  }
  for (const std::string& name : names.figures) visitor.optional(name, value_of(run.figures, name));
  for (const std::string& name : names.machine) visitor.optional("machine_" + name, value_of(run.machine, name));
}

}  // namespace

Status write_figures(const Sweep& sweep) {
  const Names names = names_of(sweep);
  tables::ParquetTable table("figures");
  auto columns = tables::declared_columns(
      table, [&](auto& visitor) { visit_run(visitor, RunRow(), Configuration(), Workload(), names); });
  if (Status opened = table.open((std::filesystem::path(sweep.folder) / kFiguresFile).string()); !opened) return opened;
  for (const RunRow& run : sweep.runs) {
    tables::RowVisitor<false> visitor(table, columns);
    visit_run(visitor, run, sweep.configurations[run.planned.configuration], sweep.workloads[run.planned.workload],
              names);
    table.row_added();
    if (!table.full()) continue;
    if (Status ended = table.end_row_group(); !ended) return ended;
  }
  const auto closed = table.close();
  if (!closed) return tl::make_unexpected(closed.error());
  return {};
}

}  // namespace mlrun::sweep
