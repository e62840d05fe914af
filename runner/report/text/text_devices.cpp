// SPDX-License-Identifier: Apache-2.0
// Block devices: the requests of the recorded processes, and their time in the queue and on the device.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/report/run_json_values.h"
#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

std::string name_of(const json& device) {
  const auto name = device.find("name");
  return name != device.end() && name->is_string() ? printable(name->get<std::string>()) : "?";
}

}  // namespace

std::string devices_text(const Summary& summary, const TextStyle& style) {
  const json::json_pointer at("/kernel_side/own_devices");
  if (!summary.run->contains(at) || !summary.run->at(at).is_array()) return {};
  TextTable table(
      {"DEVICES", "requests", "read", "written", "flushes", "queue p50", "p99", "device p50", "p99", "max"});
  for (const json& device : summary.run->at(at)) {
    if (!device.is_object()) continue;
    const auto time = [&](const char* pointer) { return time_text(integer(device, pointer), style.glyphs); };
    table.add({name_of(device), count_text(integer(device, "/requests")), bytes_text(integer(device, "/read_bytes")),
               bytes_text(integer(device, "/write_bytes")), count_text(integer(device, "/flushes")),
               time("/queue_ns/p50"), time("/queue_ns/p99"), time("/device_ns/p50"), time("/device_ns/p99"),
               time("/device_ns/max")});
  }
  if (table.empty())
    table.add_note("no block I/O of these processes: the page cache, memory or file servers had all of it");
  return table.text(style);
}

}  // namespace mlrun::summary
