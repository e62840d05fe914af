// SPDX-License-Identifier: Apache-2.0
// Block devices: the requests of the recorded processes, and their time in the queue and on the device.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/json_at.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

}  // namespace

std::string devices_text(const Summary& summary, const TextStyle& style) {
  const json& devices = util::json_at(*summary.run, "/kernel_side/own_devices");
  if (!devices.is_array()) return {};
  TextTable table(
      {"DEVICES", "requests", "read", "written", "flushes", "queue p50", "p99", "device p50", "p99", "max"});
  for (const json& device : devices) {
    if (!device.is_object()) continue;
    const std::string name = util::text_at(device, "/name");
    const auto time = [&](const char* pointer) { return time_text(util::integer_at(device, pointer), style.glyphs); };
    table.add({name.empty() ? "?" : printable(name), count_text(util::integer_at(device, "/requests")),
               bytes_text(util::integer_at(device, "/read_bytes")),
               bytes_text(util::integer_at(device, "/write_bytes")), count_text(util::integer_at(device, "/flushes")),
               time("/queue_ns/p50"), time("/queue_ns/p99"), time("/device_ns/p50"), time("/device_ns/p99"),
               time("/device_ns/max")});
  }
  if (table.empty())
    table.add_note("no block I/O of these processes: the page cache, memory or file servers had all of it");
  return table.text(style);
}

}  // namespace mlrun::summary
