// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/watched_processes.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

namespace mlrun::trace {

namespace {

using nlohmann::json;

constexpr int64_t kCountMax = int64_t{1} << 56;  // larger values are invalid

int64_t number_in(const json& object, const char* key, int64_t otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return otherwise;
  return static_cast<int64_t>(std::min<uint64_t>(found->get<uint64_t>(), kCountMax));
}

int32_t pid_in(const json& object, const char* key) {
  return static_cast<int32_t>(std::min<int64_t>(number_in(object, key, 0), INT32_MAX));
}

std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

WatchedProcess process_in(const json& object) {
  WatchedProcess process;
  process.pid = pid_in(object, "pid");
  process.ppid = pid_in(object, "ppid");
  process.ns_pid = pid_in(object, "ns_pid");
  process.pid_namespace = number_in(object, "pid_namespace", 0);
  process.start_ticks = number_in(object, "start_ticks", 0);
  process.exe = text_in(object, "exe");
  process.comm = text_in(object, "comm");
  process.is_alive = flag_in(object, "alive");
  process.is_final = flag_in(object, "final");
  const auto io = object.find("io");
  if (io == object.end() || !io->is_object()) return process;
  process.io = {number_in(object, "io_ns", -1),   number_in(*io, "rchar", -1), number_in(*io, "wchar", -1),
                number_in(*io, "syscr", -1),      number_in(*io, "syscw", -1), number_in(*io, "read_bytes", -1),
                number_in(*io, "write_bytes", -1)};
  return process;
}

constexpr int64_t kAsMlrunSees = -1;  // pseudo namespace of pids as mlrun sees them

using Key = std::pair<int64_t, int32_t>;  // pid namespace, pid in it

}  // namespace

std::vector<WatchedProcess> read_watched(const SessionInfo& session, const model::TraceInfo& info) {
  std::multimap<Key, const model::ProcessRow*> recorded;
  for (const model::ProcessRow& row : info.processes) {
    recorded.insert({{row.pid_namespace, row.ns_pid}, &row});
    recorded.insert({{kAsMlrunSees, row.pid}, &row});  // a process without /proc does not know its namespace
  }
  std::vector<WatchedProcess> processes;
  const json list = session.all->value("/watched/processes"_json_pointer, json::array());
  for (const json& entry : list) {
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
