// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/memory_source.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "runner/samplers/proc/kernel_texts.h"
#include "runner/util/id_list.h"
#include "runner/util/text.h"

namespace mlrun::machine {

namespace {

using Values = std::array<int64_t, MLRUN_MEMORY_FIELDS>;
using Names = std::unordered_map<std::string_view, mlrun_memory_field>;

constexpr int64_t kKiB = 1024;

// Names in /proc/meminfo, and in a node's meminfo, where the lines begin with "Node 0 ".
const Names kMeminfo = {{"MemTotal", MLRUN_MEMORY_TOTAL_BYTES},
                        {"MemFree", MLRUN_MEMORY_FREE_BYTES},
                        {"MemAvailable", MLRUN_MEMORY_AVAILABLE_BYTES},
                        {"Buffers", MLRUN_MEMORY_BUFFERS_BYTES},
                        {"Cached", MLRUN_MEMORY_CACHED_BYTES},
                        {"FilePages", MLRUN_MEMORY_CACHED_BYTES},
                        {"AnonPages", MLRUN_MEMORY_ANON_BYTES},
                        {"AnonHugePages", MLRUN_MEMORY_ANON_HUGE_BYTES},
                        {"Shmem", MLRUN_MEMORY_SHMEM_BYTES},
                        {"Mapped", MLRUN_MEMORY_MAPPED_BYTES},
                        {"Active", MLRUN_MEMORY_ACTIVE_BYTES},
                        {"Inactive", MLRUN_MEMORY_INACTIVE_BYTES},
                        {"Unevictable", MLRUN_MEMORY_UNEVICTABLE_BYTES},
                        {"Dirty", MLRUN_MEMORY_DIRTY_BYTES},
                        {"Writeback", MLRUN_MEMORY_WRITEBACK_BYTES},
                        {"Slab", MLRUN_MEMORY_SLAB_BYTES},
                        {"SReclaimable", MLRUN_MEMORY_SLAB_RECLAIMABLE_BYTES},
                        {"PageTables", MLRUN_MEMORY_PAGE_TABLES_BYTES},
                        {"Committed_AS", MLRUN_MEMORY_COMMITTED_BYTES},
                        {"SwapTotal", MLRUN_MEMORY_SWAP_TOTAL_BYTES},
                        {"SwapFree", MLRUN_MEMORY_SWAP_FREE_BYTES},
                        {"HugePages_Total", MLRUN_MEMORY_HUGE_PAGES},
                        {"HugePages_Free", MLRUN_MEMORY_HUGE_PAGES_FREE}};

const Names kNumastat = {{"numa_hit", MLRUN_MEMORY_NUMA_HIT},         {"numa_miss", MLRUN_MEMORY_NUMA_MISS},
                         {"numa_foreign", MLRUN_MEMORY_NUMA_FOREIGN}, {"interleave_hit", MLRUN_MEMORY_INTERLEAVE_HIT},
                         {"local_node", MLRUN_MEMORY_LOCAL_NODE},     {"other_node", MLRUN_MEMORY_OTHER_NODE}};

// Some counters (kSplit) are split by zone or cause, depending on the kernel; the parts are added up under the name without
// the split.
const Names kVmstat = {{"pgpgin", MLRUN_MEMORY_PAGED_IN_BYTES},
                       {"pgpgout", MLRUN_MEMORY_PAGED_OUT_BYTES},
                       {"pswpin", MLRUN_MEMORY_SWAPPED_IN},
                       {"pswpout", MLRUN_MEMORY_SWAPPED_OUT},
                       {"pgfault", MLRUN_MEMORY_FAULTS},
                       {"pgmajfault", MLRUN_MEMORY_MAJOR_FAULTS},
                       {"pgscan_kswapd", MLRUN_MEMORY_SCANNED_KSWAPD},
                       {"pgscan_direct", MLRUN_MEMORY_SCANNED_DIRECT},
                       {"pgsteal_kswapd", MLRUN_MEMORY_RECLAIMED_KSWAPD},
                       {"pgsteal_direct", MLRUN_MEMORY_RECLAIMED_DIRECT},
                       {"allocstall", MLRUN_MEMORY_ALLOC_STALLS},
                       {"compact_stall", MLRUN_MEMORY_COMPACT_STALLS},
                       {"oom_kill", MLRUN_MEMORY_OOM_KILLS},
                       {"workingset_refault_anon", MLRUN_MEMORY_REFAULTS_ANON},
                       {"workingset_refault_file", MLRUN_MEMORY_REFAULTS_FILE},
                       {"workingset_refault", MLRUN_MEMORY_REFAULTS_FILE},  // before Linux 5.9: files only
                       {"numa_pte_updates", MLRUN_MEMORY_NUMA_PTE_UPDATES},
                       {"numa_hint_faults", MLRUN_MEMORY_NUMA_HINT_FAULTS},
                       {"numa_hint_faults_local", MLRUN_MEMORY_NUMA_HINT_FAULTS_LOCAL},
                       {"numa_pages_migrated", MLRUN_MEMORY_NUMA_MIGRATED},
                       {"pgmigrate_success", MLRUN_MEMORY_MIGRATED},
                       {"pgmigrate_fail", MLRUN_MEMORY_MIGRATIONS_FAILED},
                       {"pgpromote_success", MLRUN_MEMORY_PROMOTED},
                       {"pgdemote", MLRUN_MEMORY_DEMOTED},
                       {"thp_fault_alloc", MLRUN_MEMORY_THP_FAULTS},
                       {"thp_fault_fallback", MLRUN_MEMORY_THP_FALLBACKS},
                       {"thp_split_page", MLRUN_MEMORY_THP_SPLITS}};
constexpr std::string_view kSplit[] = {"allocstall",    "pgdemote",       "pgscan_kswapd",
                                       "pgscan_direct", "pgsteal_kswapd", "pgsteal_direct"};
constexpr std::string_view kNoPart = "pgscan_direct_throttle";

constexpr bool is_of_this_moment(size_t field) { return field <= MLRUN_MEMORY_HUGE_PAGES_FREE; }

auto memory_kinds() {
  auto kinds = all_of<MLRUN_MEMORY_FIELDS>(Counts::kTotal);
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (is_of_this_moment(i)) kinds[i] = Counts::kNow;
  }
  return kinds;
}

void add_up(int64_t& sum, uint64_t value) { sum = (sum == MLRUN_NOT_KNOWN ? 0 : sum) + static_cast<int64_t>(value); }

// MemTotal:       24028256 kB      Node 0 MemTotal:       24028256 kB      HugePages_Total:       0
void read_meminfo(std::string_view text, Values& values) {
  proc::for_each_line(text, [&](std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string_view name = line.substr(0, colon);
    name = name.substr(name.rfind(' ') + 1);
    const auto known = kMeminfo.find(name);
    uint64_t value = 0;
    if (known == kMeminfo.end() || !proc::Numbers(line.substr(colon)).next(value)) return;
    values[known->second] = static_cast<int64_t>(value) * (line.ends_with("kB") ? kKiB : 1);
  });
}

void read_numastat(std::string_view text, Values& values) {
  proc::for_each_line(text, [&](std::string_view line) {
    const auto known = kNumastat.find(line.substr(0, line.find(' ')));
    uint64_t value = 0;
    if (known != kNumastat.end() && proc::Numbers(line).next(value)) add_up(values[known->second], value);
  });
}

void read_vmstat(std::string_view text, Values& values) {
  proc::for_each_line(text, [&](std::string_view line) {
    const size_t end = line.find(' ');
    std::string_view name = line.substr(0, end);
    if (end == std::string_view::npos || name == kNoPart) return;
    auto known = kVmstat.find(name);
    if (known == kVmstat.end()) {
      const auto* whole = std::find_if(std::begin(kSplit), std::end(kSplit), [&](std::string_view one) {
        return name.size() > one.size() && name[one.size()] == '_' && name.starts_with(one);
      });
      if (whole == std::end(kSplit)) return;
      known = kVmstat.find(*whole);
    }
    uint64_t value = 0;
    if (!proc::Numbers(line.substr(end)).next(value)) return;
    const bool is_kib = known->second == MLRUN_MEMORY_PAGED_IN_BYTES || known->second == MLRUN_MEMORY_PAGED_OUT_BYTES;
    add_up(values[known->second], value * (is_kib ? kKiB : 1));
  });
}

}  // namespace

MemorySource::MemorySource(const Places& places)
    : nodes_folder_(places.sys + "/devices/system/node"),
      meminfo_(places.proc + "/meminfo"),
      vmstat_(places.proc + "/vmstat"),
      online_(nodes_folder_ + "/online"),
      pressure_{proc::ProcFile(places.proc + "/pressure/cpu"), proc::ProcFile(places.proc + "/pressure/io"),
                proc::ProcFile(places.proc + "/pressure/memory"), proc::ProcFile(places.proc + "/pressure/irq")},
      differences_(memory_kinds()) {}

std::vector<std::string> MemorySource::problems() const {
  std::vector<std::string> list;
  if (!meminfo_.is_open()) list.emplace_back("/proc/meminfo cannot be opened: no use of memory");
  if (!vmstat_.is_open()) list.emplace_back("/proc/vmstat cannot be opened: no counters of paging");
  if (!online_.is_open())
    list.emplace_back("no nodes below /sys/devices/system/node (a container may hide them): no rows of nodes");
  if (!pressure_[2].is_open())
    list.emplace_back(
        "no /proc/pressure: needs Linux 4.20 with CONFIG_PSI, and the boot option psi=1 where it is off by default");
  return list;
}

// Lists the nodes; they change when memory is added or removed at run time.
void MemorySource::find_nodes() {
  const std::string_view text = online_.read(room_);
  if (text == online_text_) return;
  online_text_ = text;
  nodes_.clear();
  for (const uint32_t node : util::parse_id_list(util::trimmed(online_text_)).value_or(util::IdList())) {
    const std::string folder = fmt::format("{}/node{}/", nodes_folder_, node);
    nodes_.emplace(node, Node{proc::ProcFile(folder + "meminfo"), proc::ProcFile(folder + "numastat")});
  }
}

void MemorySource::read_pressure(Values& values) {
  const auto read = [&](const proc::ProcFile& file) { return proc::parse_pressure(file.read(room_)); };
  const proc::Pressure cpu = read(pressure_[0]), io = read(pressure_[1]), memory = read(pressure_[2]);
  values[MLRUN_MEMORY_PSI_CPU_SOME_NS] = cpu.some_ns.value_or(MLRUN_NOT_KNOWN);
  values[MLRUN_MEMORY_PSI_IO_SOME_NS] = io.some_ns.value_or(MLRUN_NOT_KNOWN);
  values[MLRUN_MEMORY_PSI_IO_FULL_NS] = io.full_ns.value_or(MLRUN_NOT_KNOWN);
  values[MLRUN_MEMORY_PSI_SOME_NS] = memory.some_ns.value_or(MLRUN_NOT_KNOWN);
  values[MLRUN_MEMORY_PSI_FULL_NS] = memory.full_ns.value_or(MLRUN_NOT_KNOWN);
  values[MLRUN_MEMORY_PSI_IRQ_FULL_NS] = read(pressure_[3]).full_ns.value_or(MLRUN_NOT_KNOWN);
}

void MemorySource::add_row(int32_t node, const Values& values, Batch& batch) {
  mlrun_memory_sample sample{};
  sample.node = node;
  if (differences_.step(node, values, sample)) batch.add(MLRUN_SAMPLE_MEMORY, sample);
}

void MemorySource::sample(uint64_t now_ns, Batch& batch) {
  differences_.begin(now_ns);
  Values values = Table::unknown();
  read_meminfo(meminfo_.read(room_), values);
  read_vmstat(vmstat_.read(room_), values);
  read_pressure(values);
  if (values != Table::unknown()) add_row(-1, values, batch);
  find_nodes();
  for (const auto& [number, node] : nodes_) {
    values = Table::unknown();
    read_meminfo(node.meminfo.read(room_), values);
    read_numastat(node.numastat.read(room_), values);
    add_row(number, values, batch);
  }
  differences_.end();
}

}  // namespace mlrun::machine
