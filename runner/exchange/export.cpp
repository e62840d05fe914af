// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/export.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/exchange/values.h"
#include "runner/parquet/table_reader.h"
#include "runner/parquet/trace_condition.h"
#include "runner/report/run_facts.h"
#include "runner/trace/merge/progress.h"
#include "runner/util/json_at.h"
#include "runner/util/text.h"
#include "runner/view/trace_state.h"

namespace mlrun::exchange {

namespace {

namespace fs = std::filesystem;

Result<int64_t> moment_of(const char* option, const std::string& text, int64_t start_ns) {
  const auto time = util::parse_seconds(text);
  if (!time) return fail(fmt::format("{} {}: {}", option, text, time.error().text));
  return start_ns + int64_t(*time);
}

Result<int64_t> pid_of(const std::string& text) {
  int64_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(fmt::format("--process {}: no pid; mlrun show TRACE process lists them", text));
  }
  return pid;
}

}  // namespace

Export::Export(ExportOptions options)
    : options_(std::move(options)),
      staging_(fmt::format("{}.part-{}", options_.output, ::getpid())),
      names_(options_.trace_folder),
      progress_(std::make_unique<trace::Progress>(options_.shows_progress, "exporting")) {}

Export::~Export() {
  std::error_code ignored;
  fs::remove_all(staging_, ignored);
}

Result<std::unique_ptr<Export>> Export::open(ExportOptions options) {
  while (options.output.size() > 1 && options.output.back() == '/') options.output.pop_back();
  std::unique_ptr<Export> job(new Export(std::move(options)));
  const std::string& output = job->options_.output;
  std::error_code error;
  if (fs::exists(fs::symlink_status(output, error))) {
    return fail(fmt::format("{} exists; remove it, or choose another name with -o", output));
  }
  const fs::path parent = fs::path(output).parent_path();
  if (!parent.empty() && !fs::is_directory(parent, error)) {
    return fail(fmt::format("cannot write {}: there is no folder {}", output, parent.string()));
  }
  auto run = view::open_trace(job->options_.trace_folder);
  if (!run) return tl::make_unexpected(run.error());
  if (auto whole = trace::check_tables(job->options_.trace_folder, *run); !whole) {
    return tl::make_unexpected(whole.error());
  }
  job->run_ = *std::move(run);
  if (auto times = job->read_times(); !times) return tl::make_unexpected(times.error());
  if (auto processes = job->read_processes(); !processes) return tl::make_unexpected(processes.error());
  return job;
}

const nlohmann::json& Export::run() const { return *run_; }

Status Export::read_times() {
  start_ns_ = summary::run_facts(*run_).start_monotonic_ns.value_or(0);
  realtime_offset_ns_ = util::integer_at(*run_, "/clock/realtime_offset_start_ns");
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
  auto reader = trace::TableReader::open(options_.trace_folder, "process", {.columns = {"proc_id", "pid"}});
  if (!reader) return tl::make_unexpected(reader.error());
  std::unordered_set<int64_t> found;
  for (;;) {
    const auto batch = reader->next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) break;
    const Values ids(**batch, "proc_id"), numbers(**batch, "pid");
    for (int64_t row = 0; row < (*batch)->num_rows(); ++row) {
      if (!pids.contains(numbers.number(row))) continue;
      proc_ids_.insert(ids.number(row));
      found.insert(numbers.number(row));
    }
  }
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
  return trace::has_table(options_.trace_folder + "/tables", table);
}

Status Export::commit() {
  if (::renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, options_.output.c_str(), RENAME_NOREPLACE) == 0) return {};
  const int error_number = errno;
  // Some file systems lack renames that replace nothing.
  if (error_number == EINVAL || error_number == ENOSYS) {
    if (::rename(staging_.c_str(), options_.output.c_str()) == 0) return {};
  }
  return fail_errno("give the output its name " + options_.output, error_number);
}

}  // namespace mlrun::exchange
