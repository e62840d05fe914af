// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/export.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "runner/exchange/values.h"
#include "runner/parquet/table_batches.h"
#include "runner/parquet/trace_condition.h"
#include "runner/trace/merge/progress.h"
#include "runner/util/number.h"
#include "runner/util/saturating.h"
#include "runner/util/text.h"
#include "runner/view/table_shape.h"
#include "runner/view/trace_state.h"

namespace mlrun::exchange {

namespace {

namespace fs = std::filesystem;

Result<int64_t> moment_of(const char* option, const std::string& text, int64_t start_ns) {
  const auto time = util::parse_seconds(text);
  if (!time) return fail(fmt::format("{} {}: {}", option, text, time.error().text));
  return util::sum_of(start_ns, util::capped(*time));
}

Result<int64_t> pid_of(const std::string& text) {
  const auto pid = util::whole_number<int64_t>(text);
  if (!pid) return fail(fmt::format("--process: '{}' is not a PID; mlrun show TRACE process lists the PIDs", text));
  return *pid;
}

}  // namespace

Export::Export(ExportOptions options)
    : options_(std::move(options)),
      names_(options_.trace_folder),
      progress_(std::make_unique<trace::Progress>(options_.shows_progress, "exporting")) {}

Export::~Export() = default;

Result<std::unique_ptr<Export>> Export::open(ExportOptions options) {
  while (options.output.size() > 1 && options.output.back() == '/') options.output.pop_back();
  std::unique_ptr<Export> job(new Export(std::move(options)));
  if (auto writable = job->check_output(); !writable) return tl::make_unexpected(writable.error());
  auto run = view::open_trace(job->options_.trace_folder);
  if (!run) return tl::make_unexpected(run.error());
  if (auto whole = tables::check_tables(job->options_.trace_folder, *run->document); !whole) {
    return tl::make_unexpected(whole.error());
  }
  job->run_ = *std::move(run);
  if (auto nodes = job->read_nodes(); !nodes) return tl::make_unexpected(nodes.error());
  if (auto times = job->read_times(); !times) return tl::make_unexpected(times.error());
  if (auto processes = job->read_processes(); !processes) return tl::make_unexpected(processes.error());
  auto scratch = ScratchFolder::make(job->options_.output + ".part-");
  if (!scratch) return tl::make_unexpected(scratch.error());
  job->scratch_ = *std::move(scratch);
  job->output_ = (fs::path(job->scratch_->path()) / fs::path(job->options_.output).filename()).string();
  return job;
}

Status Export::check_output() const {
  const std::string& output = options_.output;
  std::error_code error;
  if (fs::exists(fs::symlink_status(output, error))) {
    return fail(fmt::format("{} exists; remove it, or choose another name with -o", output));
  }
  const fs::path parent = fs::absolute(output).parent_path();
  if (!fs::is_directory(parent, error)) {
    return fail(fmt::format("cannot write {}: there is no folder {}", output, parent.string()));
  }
  const fs::path trace = fs::canonical(options_.trace_folder, error);
  if (error) return {};  // open_trace() says why
  const fs::path place = fs::canonical(parent, error);
  if (!error && std::mismatch(trace.begin(), trace.end(), place.begin(), place.end()).first == trace.end()) {
    return fail(
        fmt::format("cannot write {}: it is inside of the trace's folder, which holds only the trace; choose another "
                    "name with -o",
                    output));
  }
  return {};
}

Error Export::with_asked_name(Error error) const { return renamed(std::move(error), output_, options_.output); }

Status Export::read_nodes() {
  Status read = tables::for_each_batch_if_any(options_.trace_folder, "node", {.columns = {"node_id", "name"}},
                                              [&](const arrow::RecordBatch& batch) {
                                                const Values ids(batch, "node_id"), names(batch, "name");
                                                for (int64_t row = 0; row < batch.num_rows(); ++row)
                                                  nodes_.push_back({ids.number(row), std::string(names.text(row))});
                                              });
  if (!read) return read;
  std::map<std::string, int> times;
  for (const ExportNode& node : nodes_) ++times[node.name];
  for (ExportNode& node : nodes_) {
    if (times[node.name] > 1) node.name += fmt::format(" (node {})", node.id);
  }
  if (nodes_.empty()) nodes_.emplace_back();
  return {};
}

Status Export::read_times() {
  start_ns_ = run_.begin_ns().value_or(0);
  realtime_offset_ns_ = run_.clock.realtime_offset_start_ns.value_or(0);
  knows_utc_ = run_.clock.realtime_offset_start_ns.has_value();
  if (!options_.from.empty()) {
    const auto from = moment_of("--from", options_.from, start_ns_);
    if (!from) return tl::make_unexpected(from.error());
    from_ns_ = *from;
  }
  if (!options_.until.empty()) {
    const auto until = moment_of("--until", options_.until, start_ns_);
    if (!until) return tl::make_unexpected(until.error());
    until_ns_ = *until;
  }
  if (until_ns_ <= from_ns_) {
    return fail(fmt::format("--until {} is not after --from {}", options_.until, options_.from));
  }
  return {};
}

Status Export::read_processes() {
  if (options_.processes.empty()) return {};
  std::unordered_set<int64_t> pids;
  for (const std::string& text : options_.processes) {
    const auto pid = pid_of(text);
    if (!pid) return tl::make_unexpected(pid.error());
    pids.insert(*pid);
  }
  std::unordered_set<int64_t> found;
  Status read = tables::for_each_batch(options_.trace_folder, "process", {.columns = {"proc_id", "pid"}},
                                       [&](const arrow::RecordBatch& batch) {
                                         const Values ids(batch, "proc_id"), numbers(batch, "pid");
                                         for (int64_t row = 0; row < batch.num_rows(); ++row) {
                                           if (!pids.contains(numbers.number(row))) continue;
                                           proc_ids_.insert(ids.number(row));
                                           found.insert(numbers.number(row));
                                         }
                                       });
  if (!read) return read;
  for (const int64_t pid : pids) {
    if (found.contains(pid)) continue;
    return fail(fmt::format("--process {}: {} has no such process; mlrun show {} process lists them", pid,
                            options_.trace_folder, options_.trace_folder));
  }
  return {};
}

Result<std::shared_ptr<const view::IdNames>> Export::names(const std::string& id_column) {
  return names_.load(*view::named_id(id_column));
}

bool Export::has_table(const std::string& table) const {
  return tables::has_table(options_.trace_folder + "/tables", table);
}

bool Export::has_rows_of(const std::string& table, int64_t node_id) const {
  std::error_code ignored;
  return fs::exists(fs::path(options_.trace_folder) / "tables" / view::file_of_node(table, node_id), ignored);
}

Result<int64_t> Export::earliest(const std::vector<std::string>& tables) {
  int64_t first_ns = start_ns_;
  for (const std::string& table : tables) {
    const auto shape = view::table_shape(options_.trace_folder, table);
    if (!shape) return tl::make_unexpected(shape.error());
    first_ns = std::min(first_ns, shape->first_ns);
  }
  return first_ns;
}

Status Export::commit() {
  if (::renameat2(AT_FDCWD, output_.c_str(), AT_FDCWD, options_.output.c_str(), RENAME_NOREPLACE) == 0) return {};
  const int error_number = errno;
  // Some file systems lack RENAME_NOREPLACE.
  if (error_number == EINVAL || error_number == ENOSYS) {
    if (::rename(output_.c_str(), options_.output.c_str()) == 0) return {};
  }
  return fail_errno("rename the complete output to " + options_.output, error_number);
}

}  // namespace mlrun::exchange
