// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/nsys.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "runner/exchange/import/json_members.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr int64_t kPidBits = 0x1000000;
constexpr int kSchemaMajorMax = 3;
constexpr int kDomainCreate = 75;
constexpr int64_t kTimeMax = INT64_MAX / 4;

// Columns with the number of a text in StringIds.
bool is_text_number(std::string_view column) {
  constexpr std::array<std::string_view, 10> kColumns = {"nameId",     "textId",    "jsonTextId",  "contentId",
                                                         "filenameId", "shortName", "mangledName", "demangledName",
                                                         "module",     "symbol"};
  return std::find(kColumns.begin(), kColumns.end(), column) != kColumns.end();
}

// Tables without events: texts and names of numbers, which other tables refer to, and facts about the machine.
bool is_reference(std::string_view table) {
  return table == "StringIds" || table.starts_with("ENUM_") || table.starts_with("META_DATA_") ||
         table.starts_with("TARGET_INFO_") || table.starts_with("sqlite_");
}

// One row, read by names of columns. Columns that were not read are its rest.
class NsysRow {
 public:
  explicit NsysRow(SQLite::Statement& row) : row_(row) {
    for (int i = 0; i < row_.getColumnCount(); ++i) places_.emplace(row_.getColumnName(i), i);
    used_.resize(places_.size());
  }
  void begin() { std::fill(used_.begin(), used_.end(), false); }
  [[nodiscard]] bool has(const char* name) const { return places_.contains(name); }
  std::optional<int64_t> number(const char* name) {
    const auto found = places_.find(name);
    if (found == places_.end() || row_.isColumnNull(found->second)) return std::nullopt;
    used_[static_cast<size_t>(found->second)] = true;
    return row_.getColumn(found->second).getInt64();
  }
  // Nanoseconds; nothing if the column is missing, null or out of range.
  std::optional<int64_t> time(const char* name) {
    const auto ns = number(name);
    return ns && *ns > -kTimeMax && *ns < kTimeMax ? ns : std::nullopt;
  }
  uint32_t narrow(const char* name) { return static_cast<uint32_t>(number(name).value_or(0)); }
  std::string text(const char* name) {
    const auto found = places_.find(name);
    if (found == places_.end() || row_.isColumnNull(found->second)) return {};
    used_[static_cast<size_t>(found->second)] = true;
    return row_.getColumn(found->second).getString();
  }
  // The columns that were not read, as a JSON object; empty: none. `string`: returns the text with a number.
  template <typename String>
  [[nodiscard]] std::string rest(String string) const {
    std::string json;
    for (const auto& [name, place] : places_) {
      if (used_[static_cast<size_t>(place)] || row_.isColumnNull(place)) continue;
      const SQLite::Column value = row_.getColumn(place);
      json += (json.empty() ? "{" : ",") + quoted_json(name) + ":";
      if (value.isInteger() && is_text_number(name)) {
        json += quoted_json(string(value.getInt64()));
      } else if (value.isInteger() || (value.isFloat() && std::isfinite(value.getDouble()))) {
        json += value.getString();
      } else {
        json += quoted_json(util::escaped_utf8(value.getString()));
      }
    }
    return json.empty() ? json : json + "}";
  }

 private:
  SQLite::Statement& row_;
  std::unordered_map<std::string, int> places_;
  std::vector<bool> used_;
};

// CUPTI's number of a kind of memory; 0: unknown.
uint32_t nsys_memory(std::optional<int64_t> kind) {
  constexpr std::array<uint32_t, 7> kMemories = {1, 2, 3, 4, 5, 6, 7};  // by nsys's number: CUPTI's
  return kind && *kind >= 0 && *kind < static_cast<int64_t>(kMemories.size()) ? kMemories[static_cast<size_t>(*kind)]
                                                                              : 0;
}

// Removes the version from the name of a call: "cuLaunchKernel_v7000" becomes cuLaunchKernel.
void drop_version(std::string& name) {
  const size_t version = name.rfind("_v");
  if (version == std::string::npos || version + 2 >= name.size() || name.size() - version <= 4) return;
  if (name.find_first_not_of("0123456789", version + 2) == std::string::npos) name.resize(version);
}

// Sets the columns that only this kind of work has.
void set_nsys_detail(NsysRow& row, model::GpuWorkRow& work) {
  switch (work.kind) {
    case model::GpuKind::kKernel:
      work.grid = {row.narrow("gridX"), row.narrow("gridY"), row.narrow("gridZ")};
      work.block = {row.narrow("blockX"), row.narrow("blockY"), row.narrow("blockZ")};
      work.detail = row.narrow("registersPerThread");
      work.static_shared = row.narrow("staticSharedMemory");
      work.dynamic_shared = row.narrow("dynamicSharedMemory");
      work.local_bytes = row.narrow("localMemoryPerThread");
      break;
    case model::GpuKind::kMemcpy:
      work.bytes = row.number("bytes").value_or(0);
      work.detail = (row.narrow("copyKind") & 0xff) | nsys_memory(row.number("srcKind")) << 8 |
                    nsys_memory(row.number("dstKind")) << 16;
      break;
    case model::GpuKind::kMemset:
      work.bytes = row.number("bytes").value_or(0);
      work.value = row.narrow("value");
      work.detail = nsys_memory(row.number("memKind"));
      break;
    case model::GpuKind::kSync:
      work.detail = row.narrow("syncType");
      work.event = row.narrow("eventId");
      break;
    case model::GpuKind::kApi:
    case model::GpuKind::kMemory:
    case model::GpuKind::kGraph: break;
  }
}

class NsysReader {
 public:
  NsysReader(const std::string& path, TraceMaker& to) : to_(to), base_(path, SQLite::OPEN_READONLY) {}

  Status run();

 private:
  Status check_version();
  void read_names();
  Status read_table(const std::string& table);
  Status add(const std::string& table, NsysRow& row);
  Status gpu(NsysRow& row, model::GpuWorkRow work, const char* name_column);
  Status nvtx(NsysRow& row);
  Status other(const std::string& table, NsysRow& row);
  model::Origin origin(int64_t ts_ns, std::optional<int64_t> global, bool has_thread);
  const std::string& string(int64_t id);
  [[nodiscard]] std::string rest_of(const NsysRow& row) {
    return row.rest([&](int64_t id) { return string(id); });
  }
  [[nodiscard]] size_t rows_in(const std::string& table);
  [[nodiscard]] bool has_table(const std::string& name) { return base_.tableExists(name); }

  TraceMaker& to_;
  SQLite::Database base_;
  std::unordered_map<int64_t, std::string> strings_;
  std::unordered_map<int64_t, std::string> domains_;
  size_t rows_read_ = 0, rows_in_all_ = 0;
};

Status NsysReader::check_version() {
  nlohmann::json& metadata = to_.file().metadata;
  if (!has_table("META_DATA_EXPORT")) {
    to_.file().remarks["no EXPORT_SCHEMA_VERSION: read by the names of columns"] = 1;
    return {};
  }
  SQLite::Statement rows(base_, "SELECT name, value FROM META_DATA_EXPORT WHERE name LIKE 'EXPORT_%'");
  while (rows.executeStep())
    metadata[util::escaped_utf8(rows.getColumn(0).getString())] = util::escaped_utf8(rows.getColumn(1).getString());
  const std::string version = metadata.value("EXPORT_SCHEMA_VERSION", "");
  if (std::strtol(version.c_str(), nullptr, 10) > kSchemaMajorMax) {
    return fail(
        fmt::format("cannot import {}: its EXPORT_SCHEMA_VERSION is {}, mlrun knows those up to {}: export it with an "
                    "older nsys, or update mlrun",
                    to_.file().path, util::printable(version), kSchemaMajorMax));
  }
  return {};
}

const std::string& NsysReader::string(int64_t id) {
  constexpr size_t kStringsMax = 1 << 20;
  if (const auto found = strings_.find(id); found != strings_.end()) return found->second;
  if (strings_.size() > kStringsMax) strings_.clear();
  std::string& text = strings_[id];
  if (!has_table("StringIds")) return text;
  SQLite::Statement row(base_, "SELECT value FROM StringIds WHERE id = ?");
  row.bind(1, id);
  if (row.executeStep()) text = util::escaped_utf8(row.getColumn(0).getString());
  return text;
}

model::Origin NsysReader::origin(int64_t ts_ns, std::optional<int64_t> global, bool has_thread) {
  if (!global) return to_.ids().origin(ts_ns, 0, 0);
  const int32_t proc_id = to_.ids().process(*global / kPidBits % kPidBits);
  const int32_t thread_id = has_thread ? to_.ids().thread(proc_id, *global % kPidBits) : 0;
  return to_.ids().origin(ts_ns, proc_id, thread_id);
}

// Old exports lack some columns and tables.
void NsysReader::read_names() {
  const auto for_each_row = [&](const char* table, auto see) {
    if (!has_table(table)) return;
    SQLite::Statement rows(base_, fmt::format("SELECT * FROM {}", table));
    NsysRow row(rows);
    while (rows.executeStep()) {
      if (!see(row)) return;
    }
  };
  for_each_row("TARGET_INFO_SESSION_START_TIME", [&](NsysRow& row) {
    const auto utc_ns = row.time("utcEpochNs");
    to_.file().realtime_offset_ns = utc_ns.value_or(0);
    to_.file().has_offset = utc_ns.has_value();
    return false;
  });
  for_each_row("TARGET_INFO_GPU", [&](NsysRow& row) {
    if (const auto id = row.number("id")) to_.ids().gpu(*id, row.text("name"));
    return true;
  });
  for_each_row("NVTX_EVENTS", [&](NsysRow& row) {
    const auto domain = row.number("domainId");
    if (row.number("eventType") != kDomainCreate || !domain) return true;
    const std::string name = util::escaped_utf8(row.text("text"));
    const auto id = row.number("textId");
    domains_[*domain] = name.empty() && id ? string(*id) : name;
    return true;
  });
}

Status NsysReader::gpu(NsysRow& row, model::GpuWorkRow work, const char* name_column) {
  const auto begin = row.time("start");
  if (!begin) {
    to_.file().leave_out("no time, or one out of range");
    return {};
  }
  const int64_t start = *begin, end = row.time("end").value_or(start);
  const bool is_call = work.kind == model::GpuKind::kApi;
  work.origin = origin(start, is_call ? row.number("globalTid") : row.number("globalPid"), is_call);
  work.dur_ns = std::max<int64_t>(end - start, 0);
  work.correlation = row.narrow("correlationId");
  std::string name;
  if (const auto id = name_column == nullptr ? std::nullopt : row.number(name_column)) name = string(*id);
  if (work.kind == model::GpuKind::kKernel && name.empty()) {
    if (const auto id = row.number("shortName")) name = string(*id);
  }
  if (is_call) {
    work.result = row.narrow("returnValue");
    drop_version(name);
  } else {
    work.gpu_id = to_.ids().gpu(row.number("deviceId").value_or(0));
    work.context = row.narrow("contextId");
    work.stream = row.narrow("streamId");
    work.graph_node = static_cast<uint64_t>(row.number("graphNodeId").value_or(0));
  }
  set_nsys_detail(row, work);
  if (Status added = to_.add(work, name, static_cast<uint32_t>(work.origin.proc_id)); !added) return added;
  const std::string rest = rest_of(row), id = std::to_string(work.correlation);
  if (rest.empty()) return {};
  model::OtherEventRow more;
  more.origin = work.origin;
  more.kind = "gpu";
  more.id = id;
  more.args = rest;
  return to_.add(more, 0);
}

Status NsysReader::nvtx(NsysRow& row) {
  constexpr std::array<int64_t, 6> kRanges = {59, 60, 70,
                                              71, 34, 72};  // push and pop, start and end; the last two are points
  constexpr size_t kPoints = 4;
  const int64_t type = row.number("eventType").value_or(-1);
  const auto start = row.time("start"), end = row.time("end");
  const auto known = std::find(kRanges.begin(), kRanges.end(), type);
  if (known == kRanges.end() || !start) {
    row.begin();
    return other("NVTX_EVENTS", row);
  }
  const bool is_point = known >= kRanges.begin() + kPoints;
  std::string name = util::escaped_utf8(row.text("text"));
  if (const auto id = row.number("textId"); id && name.empty()) name = string(*id);
  const int64_t domain = row.number("domainId").value_or(0);
  const std::string& domain_name = domains_[domain];
  model::MarkRow mark;
  mark.origin = origin(*start, row.number("globalTid"), true);
  mark.dur_ns = is_point ? -1 : end ? std::max<int64_t>(*end - *start, 0) : 0;
  mark.is_open = !is_point && !end;
  mark.domain = domain == 0 ? "nvtx" : "nvtx:" + (domain_name.empty() ? std::to_string(domain) : domain_name);
  mark.name = name;
  mark.scope = type == 60 || type == 71 ? "process" : "thread";
  mark.value = rest_of(row);
  return to_.add(mark);
}

Status NsysReader::other(const std::string& table, NsysRow& row) {
  const char* begin = row.has("start") ? "start" : row.has("timestamp") ? "timestamp" : "rawTimestamp";
  const auto start = row.time(begin), end = row.time("end");
  const bool has_thread = row.has("globalTid");
  std::string name;
  if (const auto id = row.number("nameId")) name = string(*id);
  model::OtherEventRow event;
  event.origin = origin(start.value_or(0), row.number(has_thread ? "globalTid" : "globalPid"), has_thread);
  event.has_time = start.has_value();
  event.dur_ns = start && end ? std::max<int64_t>(*end - *start, 0) : -1;
  event.kind = table;
  event.name = name;
  const std::string rest = rest_of(row);
  event.args = rest;
  return to_.add(event);
}

Status NsysReader::add(const std::string& table, NsysRow& row) {
  model::GpuWorkRow work;
  if (table == "CUPTI_ACTIVITY_KIND_KERNEL") {
    work.kind = model::GpuKind::kKernel;
    return gpu(row, work, "demangledName");
  }
  if (table == "CUPTI_ACTIVITY_KIND_MEMCPY") {
    work.kind = model::GpuKind::kMemcpy;
    return gpu(row, work, nullptr);
  }
  if (table == "CUPTI_ACTIVITY_KIND_MEMSET") {
    work.kind = model::GpuKind::kMemset;
    return gpu(row, work, nullptr);
  }
  if (table == "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION") {
    work.kind = model::GpuKind::kSync;
    return gpu(row, work, nullptr);
  }
  if (table == "CUPTI_ACTIVITY_KIND_RUNTIME" || table == "CUPTI_ACTIVITY_KIND_DRIVER") {
    work.runtime = table.ends_with("RUNTIME") ? 1 : 0;
    return gpu(row, work, "nameId");
  }
  if (table.starts_with("NVTX_EVENTS")) return nvtx(row);
  if (table == "PROCESSES" || table == "ThreadNames") {
    const auto global = row.number(row.has("globalTid") ? "globalTid" : "globalPid");
    if (!global) {
      to_.file().leave_out("a name without a process");
      return {};
    }
    const model::Origin whose = origin(0, global, row.has("globalTid"));
    if (row.has("globalTid")) {
      to_.ids().name_thread(whose.thread_id, string(row.number("nameId").value_or(0)));
    } else {
      to_.ids().name_process(whose.proc_id, row.text("name"));
    }
    to_.file().keep(row.has("globalTid") ? "thread" : "process", 0);
    return {};
  }
  return other(table, row);
}

// An estimate of the number of rows, which reads none of them: for the progress.
size_t NsysReader::rows_in(const std::string& table) {
  try {
    SQLite::Statement row(base_, "SELECT max(rowid) FROM \"" + table + "\"");
    return row.executeStep() && !row.isColumnNull(0)
               ? static_cast<size_t>(std::max<int64_t>(row.getColumn(0).getInt64(), 1))
               : 1;
  } catch (const SQLite::Exception&) {
    return 1;  // a table without rowid
  }
}

Status NsysReader::read_table(const std::string& table) {
  SQLite::Statement rows(base_, "SELECT * FROM \"" + table + "\"");
  NsysRow row(rows);
  const bool is_event = row.has("start") || row.has("timestamp") || row.has("rawTimestamp") || table == "PROCESSES" ||
                        table == "ThreadNames";
  constexpr size_t kRowsPerStep = 1024;
  for (size_t count = 1; rows.executeStep(); ++count) {
    if (!is_event) {
      ++to_.file().remarks["a row of a table without times, not read: " + util::escaped_utf8(table)];
      continue;
    }
    row.begin();
    if (Status added = add(table, row); !added) return added;
    if (count % kRowsPerStep == 0) to_.progress().reached(rows_read_ + count, rows_in_all_);
  }
  return {};
}

Status NsysReader::run() {
  to_.ids().begin_space();
  if (Status known = check_version(); !known) return known;
  read_names();
  std::vector<std::string> tables;
  SQLite::Statement names(base_, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  while (names.executeStep()) tables.push_back(names.getColumn(0).getString());
  std::vector<size_t> sizes;
  for (const std::string& table : tables) {
    const bool is_read = table.find('"') == std::string::npos && !is_reference(table);
    rows_in_all_ += sizes.emplace_back(is_read ? rows_in(table) : 0);
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    if (sizes[i] == 0) continue;
    if (Status read = read_table(tables[i]); !read) return read;
    to_.progress().reached(rows_read_ += sizes[i], rows_in_all_);
  }
  const bool is_of_nsys = std::any_of(tables.begin(), tables.end(), [](const std::string& table) {
    return table == "StringIds" || table.starts_with("TARGET_INFO") || table.starts_with("CUPTI_") ||
           table.starts_with("NVTX_");
  });
  if (!is_of_nsys)
    return fail("cannot import " + to_.file().path + ": an SQLite file, but not an export of Nsight Systems");
  return {};
}

}  // namespace

Status read_nsys(const std::string& path, TraceMaker& to) {
  try {
    return NsysReader(path, to).run();
  } catch (const SQLite::Exception& error) {
    return fail(fmt::format("cannot import {}: damaged or no SQLite file: {}", path, error.what()));
  }
}

}  // namespace mlrun::exchange
