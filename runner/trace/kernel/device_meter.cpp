// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/device_meter.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runner/trace/files/device_number.h"
#include "runner/trace/kernel/device_table.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

json quantiles(const util::LogHistogram& times) {
  return {
      {"p50", times.quantile(0.5)}, {"p95", times.quantile(0.95)}, {"p99", times.quantile(0.99)}, {"max", times.max()}};
}

}  // namespace

void DeviceMeter::add(const RequestRow& row) {
  const mlrun_block_request& record = row.record;
  if ((record.flags & MLRUN_BLOCK_METADATA_WRITE) != 0) return;
  Device& device = devices_[record.device];
  ++device.requests;
  if (record.error != 0) ++device.errors;
  if (record.op == MLRUN_BLOCK_READ) {
    ++device.reads;
    device.read_bytes += record.bytes;
  } else if (record.op == MLRUN_BLOCK_WRITE) {
    ++device.writes;
    device.write_bytes += record.bytes;
  } else if (record.op == MLRUN_BLOCK_FLUSH) {
    ++device.flushes;
  } else {
    ++device.others;
  }
  if (record.issued_at_ns == 0) return;
  const int64_t issue_ns = std::clamp(TraceClock::from_monotonic(record.issued_at_ns), row.ts_ns, row.end_ns);
  if (record.queued_at_ns != 0) device.queue_ns.add(issue_ns - row.ts_ns);
  device.device_ns.add(row.end_ns - issue_ns);
}

json DeviceMeter::json_of(const model::KernelSide& kernel_side) const {
  json list = json::array();
  for (const auto& [number, device] : devices_) {
    list.push_back({{"dev", stat_device(number)},
                    {"name", device_name(kernel_side, number)},
                    {"requests", device.requests},
                    {"reads", device.reads},
                    {"read_bytes", device.read_bytes},
                    {"writes", device.writes},
                    {"write_bytes", device.write_bytes},
                    {"flushes", device.flushes},
                    {"others", device.others},
                    {"errors", device.errors},
                    {"queue_ns", quantiles(device.queue_ns)},
                    {"device_ns", quantiles(device.device_ns)}});
  }
  return list;
}

}  // namespace mlrun::trace
