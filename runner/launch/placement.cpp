// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/placement.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <iterator>
#include <thread>

#include <fmt/format.h>

#include "runner/util/file_io.h"
#include "runner/util/text.h"

namespace mlrun::launch {

namespace {

constexpr uint32_t kIdsMax = 8192;  // more than any kernel is built for
constexpr size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
constexpr const char* kNodes = "/sys/devices/system/node/";
constexpr const char* kCpus = "/sys/devices/system/cpu/";

using Mask = std::array<unsigned long, kIdsMax / kWordBits>;

Mask mask_of(const IdList& ids) {
  Mask mask{};
  for (const uint32_t id : ids) mask[id / kWordBits] |= 1ul << (id % kWordBits);
  return mask;
}

IdList ids_of(const Mask& mask) {
  IdList ids;
  for (uint32_t id = 0; id < kIdsMax; id++) {
    if ((mask[id / kWordBits] >> (id % kWordBits) & 1) != 0) ids.push_back(id);
  }
  return ids;
}

int set_cpus(const Mask& mask) { return ::syscall(SYS_sched_setaffinity, 0, sizeof mask, mask.data()) < 0 ? errno : 0; }

int set_memory_nodes(const Mask& mask) {
  return ::syscall(SYS_set_mempolicy, MPOL_BIND, mask.data(), static_cast<unsigned long>(kIdsMax)) < 0 ? errno : 0;
}

// What the kernel makes of a request, asked by a thread that ends afterwards. `error` is that of a request of which nothing is
// left, or which is not permitted.
struct Granted {
  IdList ids;
  int error = 0;
};

Granted granted_cpus(const IdList& wanted) {
  Granted granted;
  std::thread([&] {
    Mask mask = mask_of(wanted);
    granted.error = set_cpus(mask);
    if (granted.error != 0) return;
    mask = {};
    if (::syscall(SYS_sched_getaffinity, 0, sizeof mask, mask.data()) < 0) granted.error = errno;
    granted.ids = ids_of(mask);
  }).join();
  return granted;
}

Granted granted_nodes(const IdList& wanted) {
  Granted granted;
  std::thread([&] {
    Mask mask = mask_of(wanted);
    granted.error = set_memory_nodes(mask);
    if (granted.error != 0) return;
    mask = {};
    int mode = 0;
    if (::syscall(SYS_get_mempolicy, &mode, mask.data(), static_cast<unsigned long>(kIdsMax), nullptr, 0ul) < 0) {
      granted.error = errno;
    }
    granted.ids = ids_of(mask);
  }).join();
  return granted;
}

IdList without(const IdList& ids, const IdList& others) {
  IdList left;
  std::set_difference(ids.begin(), ids.end(), others.begin(), others.end(), std::back_inserter(left));
  return left;
}

// A list of /sys. Empty also if there is no such file.
IdList system_list(const std::string& path) {
  std::string text = util::read_text(path, 1 << 16);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return parse_id_list(text).value_or(IdList());
}

std::string named(const char* noun, const IdList& ids) {
  return fmt::format("{}{} {}", noun, ids.size() > 1 ? "s" : "", id_list_text(ids));
}

const char* do_or_does(const IdList& ids) { return ids.size() > 1 ? "do" : "does"; }

Result<IdList> find_nodes(const std::string& list) {
  auto nodes = parse_id_list(list);
  if (!nodes) return nodes;
  const IdList online = system_list(std::string(kNodes) + "online");
  if (online.empty()) return fail("this kernel has no NUMA nodes (there is no /sys/devices/system/node); leave it out");
  const IdList absent = without(*nodes, online);
  if (absent.empty()) return nodes;
  return fail(fmt::format("{} {} not exist; this machine has {}", named("node", absent), do_or_does(absent),
                          named("node", online)));
}

}  // namespace

Result<IdList> parse_id_list(const std::string& text) {
  const auto wrong = [&] {
    return fail(fmt::format("'{}' is no list of numbers below {}; write it like 0-3,8", text, kIdsMax));
  };
  if (util::has_empty_part(text)) return wrong();
  IdList ids;
  for (const std::string_view part : util::split(text, ",")) {
    const char* const end = part.data() + part.size();
    uint32_t first = 0, last = 0;
    auto read = std::from_chars(part.data(), end, first);
    last = first;
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || read.ptr != end || last < first || last >= kIdsMax) return wrong();
    for (uint32_t id = first; id <= last; id++) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::string id_list_text(const IdList& ids) {
  std::string text;
  for (size_t i = 0; i < ids.size();) {
    size_t end = i + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) end++;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ids[i]);
    if (end - i > 1) text += fmt::format("-{}", ids[end - 1]);
    i = end;
  }
  return text;
}

Result<IdList> find_cpus(const std::string& list) {
  auto cpus = parse_id_list(list);
  if (!cpus) return cpus;
  const IdList present = system_list(std::string(kCpus) + "present"),
               online = system_list(std::string(kCpus) + "online");
  if (const IdList absent = without(*cpus, present); !absent.empty() && !present.empty()) {
    return fail(fmt::format("{} {} not exist; this machine has {}", named("CPU", absent), do_or_does(absent),
                            named("CPU", online)));
  }
  if (const IdList offline = without(*cpus, online); !offline.empty() && !online.empty()) {
    return fail(fmt::format("{} {} offline; {} online", named("CPU", offline), offline.size() > 1 ? "are" : "is",
                            named("CPU", online) + (online.size() > 1 ? " are" : " is")));
  }
  const Granted granted = granted_cpus(*cpus);
  if (granted.error != 0 && granted.error != EINVAL) return fail_errno("choose CPUs here", granted.error);
  if (const IdList denied = without(*cpus, granted.ids); !denied.empty()) {
    return fail(fmt::format("{} may not be used here: the cpuset of this container or service does not contain {}",
                            named("CPU", denied), denied.size() > 1 ? "them" : "it"));
  }
  return cpus;
}

Result<IdList> find_cpus_of_nodes(const std::string& list) {
  const auto nodes = find_nodes(list);
  if (!nodes) return tl::make_unexpected(nodes.error());
  IdList all;
  for (const uint32_t node : *nodes) {
    const IdList cpus = system_list(fmt::format("{}node{}/cpulist", kNodes, node));
    if (cpus.empty()) return fail(fmt::format("node {} has no CPUs", node));
    const Granted granted = granted_cpus(cpus);
    if (granted.error != 0 && granted.error != EINVAL) return fail_errno("choose CPUs here", granted.error);
    if (granted.ids.empty()) {
      return fail(
          fmt::format("the CPUs of node {} ({}) may not be used here: the cpuset of this container or service contains "
                      "none of them",
                      node, id_list_text(cpus)));
    }
    all.insert(all.end(), granted.ids.begin(), granted.ids.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

Result<IdList> find_memory_nodes(const std::string& list) {
  auto nodes = find_nodes(list);
  if (!nodes) return nodes;
  if (const IdList empty = without(*nodes, system_list(std::string(kNodes) + "has_memory")); !empty.empty()) {
    return fail(fmt::format("{} {} no memory", named("node", empty), empty.size() > 1 ? "have" : "has"));
  }
  const Granted granted = granted_nodes(*nodes);
  if (granted.error != 0 && granted.error != EINVAL) return fail_errno("choose nodes of memory here", granted.error);
  if (const IdList denied = without(*nodes, granted.ids); !denied.empty()) {
    return fail(
        fmt::format("memory of {} may not be used here: the cpuset of this container or service does not contain {}",
                    named("node", denied), denied.size() > 1 ? "them" : "it"));
  }
  return nodes;
}

int Placement::apply() const {
  if (!cpus.empty()) {
    if (const int error = set_cpus(mask_of(cpus)); error != 0) return error;
  }
  return mem_nodes.empty() ? 0 : set_memory_nodes(mask_of(mem_nodes));
}

Result<Placement> find_placement(const std::string& cpus, const std::string& cpu_node, const std::string& mem_node) {
  Placement placement;
  const struct {
    const char* option;
    const std::string& list;
    Result<IdList> (*find)(const std::string& list);
    IdList& ids;
  } parts[] = {{"--cpus", cpus, find_cpus, placement.cpus},
               {"--cpu-node", cpu_node, find_cpus_of_nodes, placement.cpus},
               {"--mem-node", mem_node, find_memory_nodes, placement.mem_nodes}};
  for (const auto& part : parts) {
    if (part.list.empty()) continue;
    auto found = part.find(part.list);
    if (!found) return fail(fmt::format("{} {}: {}", part.option, part.list, found.error().text));
    part.ids = *std::move(found);
  }
  return placement;
}

}  // namespace mlrun::launch
