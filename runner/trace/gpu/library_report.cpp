// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/library_report.h"

#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace mlrun::trace {

namespace {

void add_row(model::TraceInfo& info, std::string subject, std::string detail, int64_t unseen = -1) {
  info.coverage.push_back({0, std::move(subject), std::move(detail), -1, unseen});
}

}  // namespace

bool LibraryReport::is_observed() const { return session_.has_stream(stream_); }

void LibraryReport::add_gaps(model::TraceInfo& info, const std::string& before,
                             const std::string& before_detail) const {
  if (!is_there()) {
    return add_row(info, "calls of " + library_,
                   "mlrun was killed before it could report which processes were probed, and since when");
  }
  add_processes(info, before, before_detail);
  for (const auto& gone : report_->detached) {
    if (gone.function.empty()) continue;
    add_row(info, "calls of " + gone.function,
            fmt::format("its probe was detached: {} calls a second in all processes could have slowed them",
                        gone.calls_per_second));
  }
}

void LibraryReport::add_processes(model::TraceInfo& info, const std::string& before,
                                  const std::string& before_detail) const {
  std::set<int64_t> had_it, later;
  for (const auto& process : report_->libraries) {
    const bool is_since_now = process.functions > 0 && !process.was_probed;
    if (is_since_now) (process.was_there ? had_it : later).insert(process.pid);
    if (!process.missing) continue;
    add_row(info, "calls of " + library_,
            fmt::format("process {}, {}: {}", process.pid, process.path, *process.missing));
  }
  if (report_->libraries.empty()) {
    add_row(info, "calls of " + library_, fmt::format("no observed process had {} mapped", files_));
  }
  if (!had_it.empty()) {
    add_row(info, before,
            fmt::format("processes had {} loaded when mlrun attached to them: {}", library_, before_detail),
            std::ssize(had_it));
  }
  if (!later.empty()) {
    add_row(info, "first calls of " + library_,
            "processes loaded it during the run: calls before its probes were attached, mostly within a second, are "
            "missing",
            std::ssize(later));
  }
  if (report_->put_off > 0) {
    add_row(info, "first calls of " + library_,
            "probes were attached late, this many times: too many probes of ended processes were still being removed",
            report_->put_off);
  }
}

}  // namespace mlrun::trace
