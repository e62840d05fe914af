// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/device_meter.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runner/model/run_keys.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/kernel/device_table.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

namespace {

model::KernelSide::Times quantiles(const util::LogHistogram& times) {
  return {times.quantile(0.5), times.quantile(0.95), times.quantile(0.99), times.max()};
}

}  // namespace

void DeviceMeter::add(const RequestRow& row) {
  const mlrun_block_request& record = row.record;
  if ((record.flags & MLRUN_BLOCK_METADATA_WRITE) != 0) return;
  Device& of = devices_[record.device];
  model::KernelSide::Device& device = of.sums;
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
  if (record.queued_at_ns != 0) of.queue_ns.add(issue_ns - row.ts_ns);
  of.device_ns.add(row.end_ns - issue_ns);
}

nlohmann::json DeviceMeter::json_of(const model::KernelSide& kernel_side) const {
  std::vector<model::KernelSide::Device> list;
  for (const auto& [number, of] : devices_) {
    model::KernelSide::Device& device = list.emplace_back(of.sums);
    device.dev = stat_device(number);
    device.name = device_name(kernel_side, number);
    device.queue_ns = quantiles(of.queue_ns);
    device.device_ns = quantiles(of.device_ns);
  }
  return model::json_of(list);
}

}  // namespace mlrun::trace
