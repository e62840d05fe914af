// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json_kernel.h"

#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"

namespace mlrun::report {

using Json = nlohmann::ordered_json;

// The kernel_side of run.json, also if it was refused; null if there is none.
Json kernel_side_json(const summary::Summary& summary) {
  const nlohmann::json& found = util::json_at(*summary.run.document, "/kernel_side");
  if (!found.is_object()) return {};
  Json out = Json::object();
  for (const char* key : {"state", "reason", "signals", "throttled"})
    out[key] = found.contains(key) ? Json(found.at(key)) : Json();
  return out;
}

Json devices_json(const summary::Summary& summary) {
  return util::json_at(*summary.run.document, "/kernel_side/own_devices");
}

Json syscalls_json(const summary::Summary& summary) {
  return util::json_at(*summary.run.document, "/kernel_side/syscalls");
}

}  // namespace mlrun::report
