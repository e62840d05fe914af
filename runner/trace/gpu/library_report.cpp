// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/library_report.h"

#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mlrun::trace {

namespace {

using nlohmann::json;

void add_row(model::TraceInfo& info, std::string subject, std::string detail, int64_t unseen = -1) {
  info.coverage.push_back({0, std::move(subject), std::move(detail), -1, unseen});
}

}  // namespace

bool LibraryReport::is_followed() const { return session_.has_stream(key_); }

bool LibraryReport::is_there() const { return session_.all->contains(json::json_pointer("/kernel_side/" + key_)); }

json LibraryReport::list(const char* name) const {
  json objects = json::array();
  for (const json& entry : session_.list(fmt::format("/kernel_side/{}/{}", key_, name).c_str())) {
    if (entry.is_object()) objects.push_back(entry);
  }
  return objects;
}

void LibraryReport::add_gaps(model::TraceInfo& info, const std::string& before,
                             const std::string& before_detail) const {
  if (!is_there()) {
    return add_row(info, "calls of " + library_,
                   "mlrun was killed before it could report which processes were probed, and since when");
  }
  add_processes(info, before, before_detail);
  for (const json& gone : list("let_go")) {
    add_row(info, "calls of " + gone.value("function", ""),
            fmt::format("its probe was detached: {} calls a second in all processes could have slowed them",
                        gone.value("calls_per_second", int64_t{0})));
  }
}

void LibraryReport::add_processes(model::TraceInfo& info, const std::string& before,
                                  const std::string& before_detail) const {
  std::set<int64_t> had_it, later;
  const json libraries = list("libraries");
  for (const json& library : libraries) {
    const int64_t pid = library.value("pid", int64_t{0});
    const bool is_since_now = library.value("functions", int64_t{0}) > 0 && !library.value("was_probed", false);
    if (is_since_now) (library.value("was_there", false) ? had_it : later).insert(pid);
    if (!library.contains("missing")) continue;
    add_row(info, "calls of " + library_,
            fmt::format("process {}, {}: {}", pid, library.value("path", ""), library.value("missing", "")));
  }
  if (libraries.empty()) {
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
  const int64_t put_off = session_.number(fmt::format("/kernel_side/{}/put_off", key_).c_str(), 0);
  if (put_off > 0) {
    add_row(info, "first calls of " + library_,
            "probes were attached late, this many times: too many probes of ended processes were still being removed",
            put_off);
  }
}

}  // namespace mlrun::trace
