// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/device_table.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/kernel_record.h"
#include "runner/model/device_row.h"
#include "runner/parquet/parquet_table.h"
#include "runner/trace/files/device_number.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

const json& list_in(const json& session, const char* key) {
  static const json kNone = json::array();
  const json::json_pointer at(std::string("/kernel_side/") + key);
  return session.contains(at) && session.at(at).is_array() ? session.at(at) : kNone;
}

int64_t number_in(const json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

std::string text_in(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void describe(const json& facts, model::DeviceRow& row) {
  row.name = text_in(facts, "name");
  row.kind = text_in(facts, "kind");
  row.path_name = text_in(facts, "path_name");
  row.model = text_in(facts, "model");
  row.scheduler = text_in(facts, "scheduler");
  if (facts.is_object() && facts.contains("rotational") && facts["rotational"].is_boolean()) {
    row.rotational = facts["rotational"].get<bool>() ? 1 : 0;
  }
  if (!facts.is_object() || !facts.contains("below") || !facts["below"].is_array()) return;
  for (const json& name : facts["below"]) {
    if (name.is_string()) row.below += (row.below.empty() ? "" : ",") + name.get<std::string>();
  }
}

void add_total(const json& total, model::DeviceRow& row) {
  const int64_t requests = number_in(total, "requests"), bytes = number_in(total, "bytes");
  switch (number_in(total, "op")) {
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
  row.device_ns += number_in(total, "device_ns");
  row.errors += number_in(total, "errors");
  row.own_requests += number_in(total, "own_requests");
  row.own_bytes += number_in(total, "own_bytes");
}

std::map<uint32_t, model::DeviceRow> rows_of(const json& session) {
  std::map<uint32_t, model::DeviceRow> rows;
  const auto row_of = [&](const json& entry) -> model::DeviceRow& {
    const auto number = static_cast<uint32_t>(number_in(entry, "device"));
    model::DeviceRow& row = rows[number];
    row.dev = stat_device(number);
    row.major = major_of(number);
    row.minor = minor_of(number);
    return row;
  };
  for (const json& facts : list_in(session, "devices")) describe(facts, row_of(facts));
  for (const json& total : list_in(session, "totals")) add_total(total, row_of(total));
  return rows;
}

struct DeviceTable {
  ParquetTable table{"device"};
  Int64Column& dev = table.int64("dev");
  Int32Column& major = table.int32("major");
  Int32Column& minor = table.int32("minor");
  TextColumn& name = table.optional_text("name");
  TextColumn& kind = table.optional_text("kind");
  TextColumn& path_name = table.optional_text("path_name");
  TextColumn& model_name = table.optional_text("model");
  TextColumn& scheduler = table.optional_text("scheduler");
  TextColumn& below = table.optional_text("below");
  Int32Column& rotational = table.optional_int32("rotational");
  Int64Column& reads = table.int64("reads");
  Int64Column& read_bytes = table.int64("read_bytes");
  Int64Column& writes = table.int64("writes");
  Int64Column& write_bytes = table.int64("write_bytes");
  Int64Column& flushes = table.int64("flushes");
  Int64Column& discards = table.int64("discards");
  Int64Column& device_ns = table.int64("device_ns");
  Int64Column& errors = table.int64("errors");
  Int64Column& own_requests = table.int64("own_requests");
  Int64Column& own_bytes = table.int64("own_bytes");

  void add(const model::DeviceRow& row) {
    dev.add(row.dev);
    major.add(row.major);
    minor.add(row.minor);
    name.add_unless_empty(row.name);
    kind.add_unless_empty(row.kind);
    path_name.add_unless_empty(row.path_name);
    model_name.add_unless_empty(row.model);
    scheduler.add_unless_empty(row.scheduler);
    below.add_unless_empty(row.below);
    rotational.add_unless(-1, row.rotational);
    reads.add(row.reads);
    read_bytes.add(row.read_bytes);
    writes.add(row.writes);
    write_bytes.add(row.write_bytes);
    flushes.add(row.flushes);
    discards.add(row.discards);
    device_ns.add(row.device_ns);
    errors.add(row.errors);
    own_requests.add(row.own_requests);
    own_bytes.add(row.own_bytes);
    table.row_added();
  }
};

}  // namespace

std::string device_name(const json& session, uint32_t device) {
  for (const json& facts : list_in(session, "devices")) {
    if (number_in(facts, "device") != device) continue;
    if (std::string name = text_in(facts, "name"); !name.empty()) return name;
  }
  return fmt::format("{}:{}", major_of(device), minor_of(device));
}

Status write_devices(const json& session, const std::string& tables_folder) {
  DeviceTable devices;
  if (auto opened = devices.table.open_in(tables_folder); !opened) return opened;
  for (const auto& [number, row] : rows_of(session)) devices.add(row);
  if (auto closed = devices.table.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

Status visit_device_table(const std::function<Status(ParquetTable&)>& visit) {
  DeviceTable devices;
  return visit(devices.table);
}

}  // namespace mlrun::trace
