// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/watched_processes.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

// The list is read here alone: run.json has none. A number within bounds, because the file is untrusted.
int64_t number_at(const json& object, const char* where, int64_t otherwise) {
  return std::clamp<int64_t>(util::integer_at(object, where, otherwise), otherwise, int64_t{1} << 56);
}

int32_t pid_at(const json& object, const char* where) {
  return static_cast<int32_t>(std::min<int64_t>(number_at(object, where, 0), INT32_MAX));
}

WatchedProcess process_in(const json& object) {
  WatchedProcess process;
  process.pid = pid_at(object, "/pid");
  process.ppid = pid_at(object, "/ppid");
  process.ns_pid = pid_at(object, "/ns_pid");
  process.pid_namespace = number_at(object, "/pid_namespace", 0);
  process.start_ticks = number_at(object, "/start_ticks", 0);
  process.exe = util::text_at(object, "/exe");
  process.comm = util::text_at(object, "/comm");
  process.is_alive = util::flag_at(object, "/alive");
  process.is_final = util::flag_at(object, "/final");
  const json& io = util::json_at(object, "/io");
  if (io.is_object()) process.io = kernel_io_in(io, number_at(object, "/io_ns", -1));
  return process;
}

constexpr int64_t kAsMlrunSees = -1;  // pseudo namespace of pids as mlrun sees them

using Key = std::pair<int64_t, int32_t>;  // pid namespace, pid in it

}  // namespace

std::vector<WatchedProcess> read_watched(const model::Run& session, const model::TraceInfo& info) {
  std::multimap<Key, const model::ProcessRow*> recorded;
  for (const model::ProcessRow& row : info.processes) {
    recorded.insert({{row.pid_namespace, row.ns_pid}, &row});
    recorded.insert(
        {{kAsMlrunSees, row.pid}, &row});  // a process that cannot read /proc does not know its pid_namespace
  }
  std::vector<WatchedProcess> processes;
  for (const json& entry : util::list_at(*session.document, "/watched/processes")) {
    if (!entry.is_object()) continue;
    WatchedProcess& process = processes.emplace_back(process_in(entry));
    process.is_command = processes.size() == 1;
    for (const Key& key : {Key{kAsMlrunSees, process.pid}, Key{process.pid_namespace, process.ns_pid}}) {
      const auto [from, to] = recorded.equal_range(key);
      for (auto at = from; at != to; ++at) {
        const model::ProcessRow& row = *at->second;
        const bool is_unknown = row.start_ticks == 0 && key.first != kAsMlrunSees;
        if (is_unknown || row.start_ticks == process.start_ticks) process.proc_id = row.proc_id;
      }
    }
  }
  return processes;
}

}  // namespace mlrun::trace
