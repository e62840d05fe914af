// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/device_table.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/kernel_record.h"
#include "runner/model/device_row.h"
#include "runner/parquet/row_columns.h"
#include "runner/trace/files/device_number.h"
#include "runner/util/json_at.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

void describe(const json& facts, model::DeviceRow& row) {
  row.name = util::text_at(facts, "/name");
  row.kind = util::text_at(facts, "/kind");
  row.path_name = util::text_at(facts, "/path_name");
  row.model = util::text_at(facts, "/model");
  row.scheduler = util::text_at(facts, "/scheduler");
  if (const json& rotational = util::json_at(facts, "/rotational"); rotational.is_boolean()) {
    row.rotational = rotational.get<bool>() ? 1 : 0;
  }
  for (const json& name : util::list_at(facts, "/below")) {
    if (name.is_string()) row.below += (row.below.empty() ? "" : ",") + name.get<std::string>();
  }
}

void add_total(const json& total, model::DeviceRow& row) {
  const int64_t requests = util::integer_at(total, "/requests"), bytes = util::integer_at(total, "/bytes");
  switch (util::integer_at(total, "/op")) {
    case MLRUN_BLOCK_READ:
      row.reads += requests;
      row.read_bytes += bytes;
      break;
    case MLRUN_BLOCK_WRITE:
      row.writes += requests;
      row.write_bytes += bytes;
      break;
    case MLRUN_BLOCK_FLUSH: row.flushes += requests; break;
    case MLRUN_BLOCK_DISCARD: row.discards += requests; break;
    default: break;
  }
  row.device_ns += util::integer_at(total, "/device_ns");
  row.errors += util::integer_at(total, "/errors");
  row.own_requests += util::integer_at(total, "/own_requests");
  row.own_bytes += util::integer_at(total, "/own_bytes");
}

std::map<uint32_t, model::DeviceRow> rows_of(const json& session) {
  std::map<uint32_t, model::DeviceRow> rows;
  const auto row_of = [&](const json& entry) -> model::DeviceRow& {
    const auto number = static_cast<uint32_t>(util::integer_at(entry, "/device"));
    model::DeviceRow& row = rows[number];
    row.dev = stat_device(number);
    row.major = major_of(number);
    row.minor = minor_of(number);
    return row;
  };
  for (const json& facts : util::list_at(session, "/kernel_side/devices")) describe(facts, row_of(facts));
  for (const json& total : util::list_at(session, "/kernel_side/totals")) add_total(total, row_of(total));
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
using DeviceTable = RowTable<DeviceColumns, model::DeviceRow>;

}  // namespace

std::string device_name(const json& session, uint32_t device) {
  for (const json& facts : util::list_at(session, "/kernel_side/devices")) {
    if (util::integer_at(facts, "/device") != device) continue;
    if (std::string name = util::text_at(facts, "/name"); !name.empty()) return name;
  }
  return fmt::format("{}:{}", major_of(device), minor_of(device));
}

Status write_devices(const json& session, const std::string& tables_folder) {
  DeviceTable devices;
  if (Status opened = devices.open_in(tables_folder); !opened) return opened;
  for (const auto& [number, row] : rows_of(session)) devices.add(row);
  return devices.close();
}

Status visit_device_table(const std::function<Status(ParquetTable&)>& visit) {
  DeviceTable devices;
  return visit(devices.parquet());
}

}  // namespace mlrun::trace
