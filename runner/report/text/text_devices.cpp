// SPDX-License-Identifier: Apache-2.0
// Block devices: the requests of the recorded processes, and their time in the queue and on the device.
#include <string>
#include <vector>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {

std::string devices_text(const Summary& summary, const TextStyle& style) {
  const auto& devices = summary.run.kernel_side.own_devices;
  if (!devices) return {};
  TextTable table(
      {"DEVICES", "requests", "read", "written", "flushes", "queue p50", "p99", "device p50", "p99", "max"});
  const auto time = [&](int64_t ns) { return util::time_text(ns, style.glyphs); };
  for (const model::KernelSide::Device& device : *devices) {
    table.add({device.name.empty() ? "?" : printable(device.name), util::count_text(device.requests),
               util::bytes_text(device.read_bytes), util::bytes_text(device.write_bytes),
               util::count_text(device.flushes), time(device.queue_ns.p50), time(device.queue_ns.p99),
               time(device.device_ns.p50), time(device.device_ns.p99), time(device.device_ns.max)});
  }
  if (table.empty()) table.add_note("no block I/O: these processes used only the page cache, memory or file servers");
  return table.text(style);
}

}  // namespace mlrun::report
