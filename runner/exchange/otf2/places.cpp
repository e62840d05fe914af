// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/places.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/exchange/each_row.h"
#include "runner/exchange/short_text.h"

namespace mlrun::exchange {

namespace {

constexpr const char* kRunGroup = "the run";

// Tables of metrics of the whole run whose keys are numbers: the names of those keys.
struct NumberKeys {
  const char* table;
  std::array<const char*, 2> names;  // nullptr: no second key
};
constexpr std::array<NumberKeys, 5> kNumberKeys = {{{"sample_cpu", {"cpu", nullptr}},
                                                    {"sample_gpu", {"gpu_id", nullptr}},
                                                    {"sample_gpu_driver", {"gpu_id", nullptr}},
                                                    {"sample_memory", {"node", nullptr}},
                                                    {"sample_bandwidth", {"socket", "channel"}}}};

// What a null key means.
std::string text_of_none(std::string_view key) {
  if (key == "node") return "the machine";
  if (key == "channel") return "all channels";
  return fmt::format("{} unknown", key);
}

// All columns of the current row that have a value.
std::vector<Otf2Property> properties_of(Otf2Definitions& definitions, const std::vector<std::string>& columns,
                                        const Row& row) {
  std::vector<Otf2Property> properties;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (row.is_null(i)) continue;
    switch (row.values(i).kind()) {
      case Values::Kind::kNumber: properties.push_back(definitions.property(columns[i], row.number(i))); break;
      case Values::Kind::kText: properties.push_back(definitions.property(columns[i], row.text(i))); break;
      case Values::Kind::kBoolean:
        properties.push_back(definitions.property(columns[i], int64_t(row.values(i).boolean(row.row()))));
        break;
      case Values::Kind::kReal:
      case Values::Kind::kNone: break;
    }
  }
  return properties;
}

}  // namespace

void Otf2Places::load_nodes(Export& job) {
  if (!job.is_merged()) {
    nodes_[0] = 0;  // the machine that Otf2Definitions adds if there is no node
    return;
  }
  for (const ExportNode& node : job.nodes()) nodes_[node.id] = definitions_.add_node(node.name);
}

Status Otf2Places::load(Export& job) {
  load_nodes(job);
  if (auto read = load_processes(job); !read) return read;
  if (auto read = load_threads(job); !read) return read;
  auto read = each_row(job, "gpu", {"gpu_id", "nvml_index", "name"}, [&](const Row& row) {
    gpus_[row.number(0)] = fmt::format("GPU {} {}", row.is_null(1) ? row.number(0) : row.number(1), row.text(2));
  });
  if (!read) return tl::make_unexpected(read.error());
  read = each_row(job, "device", {"dev", "name", "node_id"}, [&](const Row& row) {
    devices_[{row.number(2), row.number(0)}] = row.text(1);
  });
  if (!read) return tl::make_unexpected(read.error());
  return {};
}

Status Otf2Places::load_processes(Export& job) {
  const auto columns = columns_of(job, "process");
  if (!columns) return tl::make_unexpected(columns.error());
  const auto place = [&](const char* name) {
    return size_t(std::find(columns->begin(), columns->end(), name) - columns->begin());
  };
  const size_t id = place("proc_id"), pid = place("pid"), role = place("role"), command = place("command");
  const size_t node = place("node_id");
  const auto read = each_row(job, "process", *columns, [&](const Row& row) {
    const std::string name =
        fmt::format("{} {}: {}", row.text(role), row.number(pid), front_of(row.text(command), 200));
    const uint32_t group = definitions_.add_group({.name = definitions_.text(name),
                                                   .node = nodes_[node == columns->size() ? 0 : row.number(node)],
                                                   .properties = properties_of(definitions_, *columns, row)});
    processes_[row.number(id)] = {group, row.number(pid)};
  });
  if (!read) return tl::make_unexpected(read.error());
  job.account().wrote("process", *read, *read);
  return {};
}

Status Otf2Places::load_threads(Export& job) {
  const std::vector<std::string> columns = {"thread_id", "proc_id", "image_id", "tid", "first", "last", "comm"};
  const auto read = each_row(job, "thread", columns, [&](const Row& row) {
    threads_[row.number(0)] = {row.number(1), row.number(3), std::string(row.text(6)),
                               properties_of(definitions_, columns, row)};
  });
  if (!read) return tl::make_unexpected(read.error());
  job.account().wrote("thread", *read, *read);
  return {};
}

uint32_t Otf2Places::process_group(int64_t proc_id) {
  const auto found = processes_.find(proc_id);
  return found == processes_.end() ? group(kRunGroup) : found->second.group;
}

uint32_t Otf2Places::group(const std::string& name, OTF2_LocationGroupType type, uint32_t creator) {
  const uint32_t node = nodes_[node_id_];
  const auto key = std::tuple(node, name, creator);
  const auto found = groups_.find(key);
  if (found != groups_.end()) return found->second;
  return groups_[key] =
             definitions_.add_group({.name = definitions_.text(name), .node = node, .type = type, .creator = creator});
}

Otf2Location Otf2Places::made(const std::string& name, OTF2_LocationType type, uint32_t group) {
  return {.name = definitions_.text(name), .type = type, .group = group};
}

Otf2Location Otf2Places::thread(const Otf2TrackKey& key) {
  const auto& [kind, thread_id, pid, tid, text] = key;
  const auto found = threads_.find(thread_id);
  if (found != threads_.end()) {
    const Thread& thread = found->second;
    Otf2Location location =
        made(thread.name.empty() ? fmt::format("thread {}", thread.tid) : fmt::format("{} {}", thread.name, thread.tid),
             OTF2_LOCATION_TYPE_CPU_THREAD, process_group(thread.proc_id));
    location.properties = thread.properties;
    return location;
  }
  Otf2Location location = made(fmt::format("thread {}", tid), OTF2_LOCATION_TYPE_CPU_THREAD,
                               group(fmt::format("process {}, not recorded", pid)));
  location.properties = {definitions_.property("pid", pid), definitions_.property("tid", tid)};
  return location;
}

// The text begins with the table's name; what follows after '/' is the rest of the key.
Otf2Location Otf2Places::metric(const Otf2TrackKey& key) {
  const auto& [kind, first, second, third, text] = key;
  const std::string table = text.substr(0, text.find('/'));
  uint32_t to = group(kRunGroup);
  std::string name = text;
  std::vector<Otf2Property> properties = {definitions_.property("table", table)};
  if (table == "sample_thread" || table == "sample_process" || table == "alloc_small") {
    const auto thread = threads_.find(first);
    if (thread != threads_.end()) to = process_group(thread->second.proc_id);
    name =
        third == kOtf2NoKey ? fmt::format("{} of {}", table, second) : fmt::format("{} of {} {}", table, second, third);
  } else if (table == "sample_gpu_process") {
    to = process_group(second);
    name = fmt::format("{} of {} on GPU {}", table, third, first);
  } else if (const auto* const keys = std::find_if(kNumberKeys.begin(), kNumberKeys.end(),
                                                   [&](const NumberKeys& one) { return one.table == table; });
             keys != kNumberKeys.end()) {
    for (size_t i = 0; i < keys->names.size() && keys->names[i] != nullptr; ++i) {
      const int64_t value = i == 0 ? first : second;
      const bool is_none = value == kOtf2NoKey;
      name += " " + (is_none ? text_of_none(keys->names[i]) : fmt::format("{} {}", keys->names[i], value));
      if (!is_none) properties.push_back(definitions_.property(keys->names[i], value));
    }
  }
  Otf2Location location = made(name, OTF2_LOCATION_TYPE_METRIC, to);
  location.properties = std::move(properties);
  return location;
}

Otf2Location Otf2Places::describe(const Otf2TrackKey& key) {
  const auto& [kind, first, second, third, text] = key;
  switch (kind) {
    case Otf2TrackKind::kThread: return thread(key);
    case Otf2TrackKind::kProcess:
      return made(fmt::format("the process's {}s", text), OTF2_LOCATION_TYPE_CPU_THREAD, process_group(first));
    case Otf2TrackKind::kRun: return made(text + "s", OTF2_LOCATION_TYPE_CPU_THREAD, group(kRunGroup));
    case Otf2TrackKind::kStream: {
      const auto gpu = gpus_.find(second);
      const uint32_t of_gpu =
          group(gpu == gpus_.end() ? "GPU" : gpu->second, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, process_group(first));
      Otf2Location location = made(fmt::format("context {} stream {}", third >> 32, third & 0xffffffff),
                                   OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, of_gpu);
      location.properties = {definitions_.property("gpu_id", second), definitions_.property("proc_id", first),
                             definitions_.property("context", third >> 32),
                             definitions_.property("stream", third & 0xffffffff)};
      return location;
    }
    case Otf2TrackKind::kGpu: {
      const auto gpu = gpus_.find(first);
      return made(fmt::format("idle: {}", gpu == gpus_.end() ? "GPU" : gpu->second), OTF2_LOCATION_TYPE_CPU_THREAD,
                  group(kRunGroup));
    }
    case Otf2TrackKind::kDevice: {
      const auto device = devices_.find({node_id_, first});
      const std::string name = device == devices_.end() ? fmt::format("device {}", first) : device->second;
      return made(text == "block" ? "requests" : "fragments", OTF2_LOCATION_TYPE_CPU_THREAD,
                  group("block device " + name));
    }
    case Otf2TrackKind::kMetric: return metric(key);
  }
  return {};
}

}  // namespace mlrun::exchange
