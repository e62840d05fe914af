// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/timeline_tables.h"

#include <algorithm>
#include <array>

#include <arrow/api.h>

#include "runner/parquet/table_reader.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

using enum Place;
using enum Shape;
using enum Link;

// The order matters where two rows have the same begin and end: the row of the earlier table is outside.
constexpr std::array<TableForm, 39> kForms = {{
    {"phase", kNested, kProcess, "phases", "", "name"},
    {"step", kApart, kRun, "steps", "step", nullptr},
    {"blame", kApart, kRun, "driver", "", "activity"},
    {"mark", kNested, kThread, "marks", "", "name_id"},
    {"collective", kNested, kProcess, "collectives", "", "operation"},
    {"slice", kNested, kThread, "", "", "name"},
    {"gpu_file", kNested, kThread, "cuFile batches", "", "func", kGpuFile, kBatch},
    {"gpu_api", kNested, kThread, "", "", "func", kLaunch},
    {"gpu_sync", kNested, kThread, "", "", "kind"},
    {"call", kNested, kThread, "", "", "func", kCall, kGpuFile},
    {"alloc", kNested, kThread, "", "", "op"},
    {"vfs", kNested, kThread, "", "vfs ", "op", kFileOp, kGpuFile},
    {"remote", kNested, kThread, "", "remote ", "op"},
    {"wait", kNested, kThread, "", "wait ", "state"},
    {"flow", kNested, kThread, "", "flow ", "name"},
    {"block", kApart, kDevice, "requests", "request ", "op", kRequest},
    {"block_part", kApart, kProcess, "block I/O", "bio ", "op", kNone, kFileOp, kRequest},
    {"gpu_graph", kApart, kStream, "", "graph", nullptr, kNone, kLaunch},
    {"gpu_kernel", kApart, kStream, "", "", "name_id", kNone, kLaunch},
    {"gpu_memcpy", kApart, kStream, "", "memcpy ", "kind", kNone, kLaunch},
    {"gpu_memset", kApart, kStream, "", "memset", nullptr, kNone, kLaunch},
    {"gpu_memory", kApart, kProcess, "GPU memory", "GPU ", "operation"},
    {"torch_memory", kApart, kProcess, "PyTorch memory", "PyTorch ", "operation"},
    {"gpu_idle", kApart, kGpu, "idle", "", "label"},
    {"python_stack", kStack, kThread, "", "", "python_line"},
    {"stack_sample", kStack, kThread, "", "", "event"},
    {"counter", kCounter, kProcess, "counters", "", "name,series"},
    {"alloc_small", kCounter, kProcess, "small blocks", "", nullptr},
    {"sample_thread", kCounter, kThread, "", "", nullptr},
    {"sample_process", kCounter, kThread, "", "", nullptr},
    {"sample_gpu", kCounter, kGpu, "", "", nullptr},
    {"sample_gpu_process", kCounter, kProcess, "GPU", "", "gpu_id,gpu_instance,compute_instance"},
    {"sample_gpu_driver", kCounter, kGpu, "driver's samples", "", "what"},
    {"sample_machine", kCounter, kRun, "machine", "", nullptr},
    {"sample_cpu", kCounter, kRun, "processor", "", "cpu"},
    {"sample_disk", kCounter, kRun, "disk", "", "device"},
    {"sample_net", kCounter, kRun, "network", "", "interface"},
    {"sample_memory", kCounter, kRun, "memory", "", "node"},
    {"sample_bandwidth", kCounter, kRun, "memory bandwidth", "", "source,kind,socket,channel"},
}};

// Values that most rows have and that say nothing: they are not shown.
struct UsualValue {
  const char* column;
  int64_t number;
  const char* text;
};
constexpr std::array<UsualValue, 9> kUsualValues = {{
    {"err", 0, ""},
    {"flags", 0, ""},
    {"error_ns", 0, ""},
    {"depth", 0, ""},
    {"served_calls", 1, ""},
    {"via", 0, "function"},
    {"offset_source", 0, "none"},
    {"clock", 0, "monotonic"},
    {"source", 0, "cupti"},
}};

// Whether the column determines the time or track of an event, so that it is no argument.
bool is_place(const std::string& column) {
  static constexpr std::array<const char*, 10> kPlaces = {"end_min", "end_max", "ts",        "dur",      "pid",
                                                          "tid",     "proc_id", "thread_id", "image_id", "node_id"};
  return std::any_of(kPlaces.begin(), kPlaces.end(), [&](const char* name) { return column == name; });
}

Result<Argument> argument_of(Export& job, const std::string& column) {
  Argument argument;
  argument.shown = column;
  const view::NamedId* named = view::named_id(column);
  const bool is_split = column.size() > 3 && column.ends_with("_ns");
  if (named != nullptr && column != "gpu_id") {
    auto names = job.names(column);
    if (!names) return tl::make_unexpected(names.error());
    argument.names = *std::move(names);
    argument.shown = named->name_column;
  }
  argument.is_address = column == "addr" || column == "old_addr" || column == "address" || column == "site";
  if (is_split) argument.usual_number = 0;
  for (const UsualValue& usual : kUsualValues) {
    if (column != usual.column) continue;
    argument.usual_number = usual.number;
    argument.usual_text = usual.text;
  }
  return argument;
}

// True: a column of samples is a number that goes up and down, rather than one that names something.
bool is_counted(const arrow::Field& field) {
  const auto type = field.type()->id();
  const bool is_number = type == arrow::Type::INT64 || type == arrow::Type::INT32 || type == arrow::Type::DOUBLE;
  const std::string& name = field.name();
  return is_number && view::named_id(name) == nullptr && name != "major" && name != "minor" && name != "driver_pid";
}

template <typename PlaceOf>
CommonColumns common_columns(const std::string& name_column, PlaceOf place_of) {
  return {.proc_id = place_of("proc_id"),
          .thread_id = place_of("thread_id"),
          .pid = place_of("pid"),
          .tid = place_of("tid"),
          .name = place_of(name_column),
          .gpu_id = place_of("gpu_id"),
          .context = place_of("context"),
          .stream = place_of("stream"),
          .dev = place_of("dev"),
          .scope = place_of("scope"),
          .text = place_of("text"),
          .stack_id = place_of("stack_id"),
          .op_id = place_of("op_id"),
          .call_id = place_of("call_id"),
          .req_id = place_of("req_id"),
          .correlation_id = place_of("correlation_id"),
          .gpu_file_id = place_of("gpu_file_id"),
          .batch_id = place_of("batch_id"),
          .period_ns = place_of("period_ns"),
          .bytes = place_of("bytes"),
          .size = place_of("size"),
          .track = place_of("track")};
}

}  // namespace

std::span<const TableForm> timeline_forms() { return kForms; }

Result<TimelineTable> timeline_table(Export& job, const TableForm& form) {
  auto reader = tables::TableReader::open(job.trace_folder(), form.table, {});
  if (!reader) return tl::make_unexpected(reader.error());
  TimelineTable table;
  table.form = &form;
  const auto place_of = [&](const std::string& name) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    if (found != table.columns.end()) return size_t(found - table.columns.begin());
    table.columns.push_back(name);
    return table.columns.size() - 1;
  };
  const bool counts = form.shape == kCounter;
  const std::string name_column = form.name_column == nullptr || counts ? "" : form.name_column;
  table.at = common_columns(name_column, place_of);
  const std::string keys = form.name_column != nullptr && counts ? form.name_column : "";
  for (const std::string_view key : util::split(keys, ",")) table.keys.push_back(place_of(std::string(key)));
  for (const auto& field : reader->schema()->fields()) {
    const std::string& name = field->name();
    if (is_place(name) || name == name_column) continue;
    if (counts) {
      const bool is_key = std::find(table.keys.begin(), table.keys.end(), place_of(name)) != table.keys.end();
      if (is_key || !is_counted(*field)) continue;
      Argument value;
      value.shown = name;
      value.column = place_of(name);
      table.arguments.push_back(std::move(value));
      continue;
    }
    auto argument = argument_of(job, name);
    if (!argument) return tl::make_unexpected(argument.error());
    argument->column = place_of(name);
    table.arguments.push_back(*std::move(argument));
  }
  if (!name_column.empty() && view::named_id(name_column) != nullptr) {
    auto names = job.names(name_column);
    if (!names) return tl::make_unexpected(names.error());
    table.names = *std::move(names);
  }
  return table;
}

}  // namespace mlrun::exchange
