// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/device_table.h"

#include <map>

#include <fmt/ranges.h>

#include "runner/events/kernel_record.h"
#include "runner/model/device_row.h"
#include "runner/parquet/row_columns.h"
#include "runner/trace/files/device_number.h"

namespace mlrun::trace {

namespace {

void describe(const model::KernelSide::BlockDevice& facts, model::DeviceRow& row) {
  row.name = facts.name;
  row.kind = facts.kind;
  row.path_name = facts.path_name;
  row.model = facts.model;
  row.scheduler = facts.scheduler;
  if (facts.rotational) row.rotational = *facts.rotational ? 1 : 0;
  row.below = fmt::format("{}", fmt::join(facts.below, ","));
}

void add_total(const model::KernelSide::BlockTotal& total, model::DeviceRow& row) {
  switch (total.op) {
    case MLRUN_BLOCK_READ:
      row.reads += total.requests;
      row.read_bytes += total.bytes;
      break;
    case MLRUN_BLOCK_WRITE:
      row.writes += total.requests;
      row.write_bytes += total.bytes;
      break;
    case MLRUN_BLOCK_FLUSH: row.flushes += total.requests; break;
    case MLRUN_BLOCK_DISCARD: row.discards += total.requests; break;
    default: break;
  }
  row.device_ns += total.device_ns;
  row.errors += total.errors;
  row.own_requests += total.own_requests;
  row.own_bytes += total.own_bytes;
}

std::map<uint32_t, model::DeviceRow> rows_of(const model::KernelSide& kernel_side) {
  std::map<uint32_t, model::DeviceRow> rows;
  const auto row_of = [&](int64_t device) -> model::DeviceRow& {
    const auto number = static_cast<uint32_t>(device);
    model::DeviceRow& row = rows[number];
    row.dev = stat_device(number);
    row.major = major_of(number);
    row.minor = minor_of(number);
    return row;
  };
  for (const auto& facts : kernel_side.devices) describe(facts, row_of(facts.device));
  for (const auto& total : kernel_side.totals) add_total(total, row_of(total.device));
  return rows;
}

struct DeviceColumns {
  static constexpr const char* kTable = "device";
  static void visit(auto& visitor, const model::DeviceRow& row) {
    visitor("dev", row.dev);
    visitor("major", row.major);
    visitor("minor", row.minor);
    visitor.optional("name", row.name);
    visitor.optional("kind", row.kind);
    visitor.optional("path_name", row.path_name);
    visitor.optional("model", row.model);
    visitor.optional("scheduler", row.scheduler);
    visitor.optional("below", row.below);
    visitor.optional("rotational", row.rotational, -1);
    visitor("reads", row.reads);
    visitor("read_bytes", row.read_bytes);
    visitor("writes", row.writes);
    visitor("write_bytes", row.write_bytes);
    visitor("flushes", row.flushes);
    visitor("discards", row.discards);
    visitor("device_ns", row.device_ns);
    visitor("errors", row.errors);
    visitor("own_requests", row.own_requests);
    visitor("own_bytes", row.own_bytes);
  }
};
using DeviceTable = tables::RowTable<DeviceColumns, model::DeviceRow>;

}  // namespace

std::string device_name(const model::KernelSide& kernel_side, uint32_t device) {
  for (const auto& facts : kernel_side.devices) {
    if (facts.device == device && !facts.name.empty()) return facts.name;
  }
  return fmt::format("{}:{}", major_of(device), minor_of(device));
}

Status write_devices(const model::KernelSide& kernel_side, const std::string& tables_folder) {
  DeviceTable devices;
  if (Status opened = devices.open_in(tables_folder); !opened) return opened;
  for (const auto& [number, row] : rows_of(kernel_side)) devices.add(row);
  return devices.close();
}

Status visit_device_table(const tables::TableVisit& visit) { return tables::visit_empty<DeviceTable>(visit); }

}  // namespace mlrun::trace
