// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/device_table.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/kernel_record.h"
#include "runner/model/device_row.h"
#include "runner/trace/device_number.h"
#include "runner/trace/parquet_table.h"

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

}  // namespace

std::string device_name(const json& session, uint32_t device) {
  for (const json& facts : list_in(session, "devices")) {
    if (number_in(facts, "device") != device) continue;
    if (std::string name = text_in(facts, "name"); !name.empty()) return name;
  }
  return fmt::format("{}:{}", major_of(device), minor_of(device));
}

Status write_devices(const json& session, const std::string& tables_folder) {
  ParquetTable table("device");
  auto& dev = table.int64("dev");
  auto& major = table.int32("major");
  auto& minor = table.int32("minor");
  auto& name = table.optional_text("name");
  auto& kind = table.optional_text("kind");
  auto& path_name = table.optional_text("path_name");
  auto& model_name = table.optional_text("model");
  auto& scheduler = table.optional_text("scheduler");
  auto& below = table.optional_text("below");
  auto& rotational = table.optional_int32("rotational");
  auto& reads = table.int64("reads");
  auto& read_bytes = table.int64("read_bytes");
  auto& writes = table.int64("writes");
  auto& write_bytes = table.int64("write_bytes");
  auto& flushes = table.int64("flushes");
  auto& discards = table.int64("discards");
  auto& device_ns = table.int64("device_ns");
  auto& errors = table.int64("errors");
  auto& own_requests = table.int64("own_requests");
  auto& own_bytes = table.int64("own_bytes");
  if (auto opened = table.open_in(tables_folder); !opened) return opened;
  for (const auto& [number, row] : rows_of(session)) {
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
  if (auto closed = table.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

}  // namespace mlrun::trace
