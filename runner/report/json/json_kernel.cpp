// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json_kernel.h"

#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"

namespace mlrun::summary {

using Json = nlohmann::ordered_json;

// From run.json; null without one.
Json kernel_side_json(const Summary& summary) {
  const nlohmann::json& found = util::json_at(*summary.run, "/kernel_side");
  if (!found.is_object()) return {};
  Json out = Json::object();
  for (const char* key : {"state", "reason", "signals", "throttled"})
    out[key] = found.contains(key) ? Json(found.at(key)) : Json();
  return out;
}

Json splits_json(const Summary& summary) {
  Json rows = Json::array();
  for (const SplitSummary& row : summary.splits) {
    rows.push_back({{"scope", row.scope},
                    {"id", row.id == 0 ? Json() : Json(row.id)},
                    {"name", row.name},
                    {"calls", row.calls},
                    {"time_ns", row.time_ns},
                    {"own_ns", row.split.own_ns},
                    {"runq_ns", row.split.runq_ns},
                    {"vfs_ns", row.split.vfs_ns},
                    {"queue_ns", row.split.queue_ns},
                    {"device_ns", row.split.device_ns},
                    {"device_shared_ns", row.split.device_shared_ns},
                    {"remote_ns", row.split.remote_ns},
                    {"wait_ns", row.split.wait_ns}});
  }
  return rows;
}

Json torch_memory_json(const Summary& summary) {
  Json rows = Json::array();
  for (const TorchMemorySummary& row : summary.torch_memory) {
    rows.push_back({{"proc_id", row.proc_id},
                    {"device", row.device < 0 ? Json() : Json(row.device)},
                    {"peak_bytes", row.peak_bytes},
                    {"allocations", row.allocations},
                    {"allocated_bytes", row.allocated_bytes},
                    {"releases", row.releases},
                    {"unmatched_releases", row.unmatched_releases},
                    {"unseen_releases", row.unseen_releases},
                    {"kept", row.kept},
                    {"kept_bytes", row.kept_bytes},
                    {"not_followed", row.not_followed}});
  }
  return rows;
}

Json devices_json(const Summary& summary) { return util::json_at(*summary.run, "/kernel_side/own_devices"); }

Json syscalls_json(const Summary& summary) { return util::json_at(*summary.run, "/kernel_side/syscalls"); }

}  // namespace mlrun::summary
