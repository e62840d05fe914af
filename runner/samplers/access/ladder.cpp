// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/ladder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "runner/launch/placement.h"
#include "runner/samplers/access/bits_rung.h"
#include "runner/samplers/access/damon.h"
#include "runner/samplers/access/event_rung.h"
#include "runner/samplers/access/precise_events.h"
#include "runner/util/access_rungs.h"
#include "runner/util/file_io.h"
#include "runner/util/id_list.h"
#include "runner/util/number.h"

namespace mlrun::access {

namespace {

constexpr uint64_t kWindowNs = 1'000'000'000;
constexpr uint64_t kPagesOfGiB = (uint64_t{1} << 30) / 4096;
constexpr const char* kEventDevices = "/sys/bus/event_source/devices";

struct RungText {
  mlrun_access_rung rung;
  const char* blind;
};
// The rungs in the order in which they are tried. `blind`: what the rung cannot see.
constexpr std::array<RungText, MLRUN_ACCESS_RUNGS - 1> kRungs = {
    {{MLRUN_ACCESS_PRECISE,
      "loads that take less than the event's threshold (30 cycles, Intel): cache levels count slow loads only; "
      "accesses of the kernel for the program, as in read() (Intel)"},
     {MLRUN_ACCESS_HINT_FAULTS,
      "which accesses are writes; in a program with one thread, pages on the thread's own node; memory with a "
      "policy (bound, preferred, interleaved), and blocks of --pmem, which NUMA balancing skips; accesses of the "
      "kernel without a fault (O_DIRECT); whether a fault on a mapped page copies it on write (read before it is "
      "first written, or shared after a fork): such a page may seem hot, and so may one that an earlier block left "
      "mapped; before Linux 5.11 a huge page counts 4 KiB, and a page that is filled again may seem hot"},
     {MLRUN_ACCESS_COLD,
      "how often memory is accessed; which part of a mapping, or of a huge page: one touched byte counts 2 MiB; memory "
      "that several processes share, as after a fork, and locked memory (mlock)"},
     {MLRUN_ACCESS_CLEAR_REFS,
      "memory so hot that its translation never leaves the TLB: it may seem cold; how often memory is accessed; "
      "which part of a mapping, or of a huge page: one touched byte counts 2 MiB"},
     {MLRUN_ACCESS_DAMON,
      "memory so hot that its translation never leaves the TLB: it may seem cold; which part of a region is accessed, "
      "as only one page of it is checked"},
     {MLRUN_ACCESS_SOFT_DIRTY,
      "reads; how often a page was written; writes to the older part of a mapping that grew in the window"},
     {MLRUN_ACCESS_FAULTS,
      "all but the first access to a page: memory that stays mapped is seen once; which accesses are writes; the size "
      "of huge pages that the access fills: each counts 4 KiB; pages that the kernel fills without a fault "
      "(MAP_POPULATE, mlock, O_DIRECT)"}}};
static_assert(kRungs.back().blind != nullptr, "each rung has a line");
// These rungs do not see all accesses (only writes, only first accesses), so they are used only if --access names them.
constexpr bool has_to_be_named(mlrun_access_rung rung) {
  return rung == MLRUN_ACCESS_SOFT_DIRTY || rung == MLRUN_ACCESS_FAULTS;
}

// These rungs read the program's own anonymous mappings. The kernel neither clears nor shows accessed bits of a file that is mapped with DAX.
constexpr bool reads_anonymous_memory(mlrun_access_rung rung) {
  return rung == MLRUN_ACCESS_COLD || rung == MLRUN_ACCESS_CLEAR_REFS || rung == MLRUN_ACCESS_DAMON ||
         rung == MLRUN_ACCESS_SOFT_DIRTY;
}

const RungText& text_of(mlrun_access_rung rung) {
  return *std::find_if(kRungs.begin(), kRungs.end(), [&](const RungText& text) { return text.rung == rung; });
}

size_t nodes_with_memory() { return util::read_id_list("/sys/devices/system/node/has_memory").size(); }

uint64_t window_ns_of(const AccessOptions& options, uint64_t shortest_ns) {
  return options.hz <= 0 ? shortest_ns : std::max(shortest_ns, static_cast<uint64_t>(1e9 / options.hz));
}

// 0: unknown.
uint64_t most_samples() {
  return util::leading_number<uint64_t>(util::read_line("/proc/sys/kernel/perf_event_max_sample_rate"));
}

// Why the sampling rate is too high; empty: it is not. The kernel refuses higher rates with EINVAL.
std::string too_many_samples(double hz) {
  const uint64_t most = most_samples();
  if (most == 0 || hz <= static_cast<double>(most)) return {};
  return fmt::format("{:.0f} samples a second are too many: kernel.perf_event_max_sample_rate is {}", hz, most);
}

ChosenRung try_precise(const AccessOptions& options) {
  ChosenRung chosen{{MLRUN_ACCESS_PRECISE, too_many_samples(options.hz), "", ""}, nullptr};
  if (!chosen.tried.problem.empty()) return chosen;
  PreciseWish wish{.hz = options.hz > 0 ? options.hz : default_rate(most_samples()),
                   .read_event = options.read_event,
                   .write_event = options.write_event};
  const std::vector<AccessEvent> events = find_precise_events(kEventDevices, wish, chosen.tried.problem);
  std::vector<AccessEvent> good;
  std::vector<std::string> unseen;
  for (const AccessEvent& event : events) {
    const std::vector<std::string> problems = PerfEvents().open({event}, 0, false);
    unseen.insert(unseen.end(), problems.begin(), problems.end());
    if (!problems.empty()) continue;
    chosen.tried.remark += (good.empty() ? "" : ", ") + event.name;
    good.push_back(event);
  }
  // Half of the accesses are enough only where the method is named, and no event is.
  const bool may_lack_one = !options.rungs.empty() && !options.read_event && !options.write_event;
  if (good.empty() || (!unseen.empty() && !may_lack_one)) {
    if (!events.empty()) chosen.tried.problem = fmt::format("{}", fmt::join(unseen, "; "));
    return chosen;
  }
  for (std::string& text : std::array{unseen_processors(good, online_processors()), unscaled_events(good)}) {
    if (!text.empty()) unseen.push_back(std::move(text));
  }
  if (!unseen.empty()) chosen.tried.remark += fmt::format("; {}", fmt::join(unseen, "; "));
  const EventCost cost{.thread_ns = calibrate_thread_ns(good)};
  chosen.made =
      make_event_rung(MLRUN_ACCESS_PRECISE, std::move(good), cost, fmt::format("{}", fmt::join(unseen, "; ")));
  return chosen;
}

// Samples page faults with their addresses. Where NUMA balancing is on, its hint faults are among them.
ChosenRung try_faults(mlrun_access_rung rung) {
  ChosenRung chosen{{rung, "", "", ""}, nullptr};
  const auto sample_ns = calibrate_fault_ns();
  if (!sample_ns) {
    chosen.tried.problem = sample_ns.error().text;
    return chosen;
  }
  AccessEvent event = page_fault_event();
  const std::string unseen = event.attr.exclude_kernel == 0
                                 ? ""
                                 : "page faults inside system calls, as of read() into new memory, are not seen: "
                                   "set kernel.perf_event_paranoid to 1 or less";
  chosen.tried.remark = unseen;
  const EventCost cost{.sample_ns = *sample_ns, .thread_ns = calibrate_thread_ns({event})};
  chosen.made = make_event_rung(rung, {std::move(event)}, cost, unseen);
  return chosen;
}

// `is_named`: the program may give its memory the policy that NUMA balancing wants (MPOL_F_NUMA_BALANCING), so it is tried under any policy.
ChosenRung try_hint_faults(const AccessOptions& options, bool is_named) {
  ChosenRung chosen{{MLRUN_ACCESS_HINT_FAULTS, "", "", ""}, nullptr};
  std::string& problem = chosen.tried.problem;
  const std::string balancing = util::read_text("/proc/sys/kernel/numa_balancing", 64);
  if (nodes_with_memory() < 2) {
    problem = "NUMA balancing needs two nodes with memory";
  } else if (balancing.empty()) {
    problem = "this kernel has no NUMA balancing";
  } else if (((balancing[0] - '0') & 1) == 0) {
    problem = "NUMA balancing is off; sysctl kernel.numa_balancing=1 turns it on";
  } else if (!is_named && (options.under_policy || launch::policy_stops_balancing())) {
    problem =
        "NUMA balancing skips memory with a policy, as by --mem-node, --preferred, --interleave or numactl; "
        "--access=hint-faults uses it nevertheless";
  }
  return problem.empty() ? try_faults(MLRUN_ACCESS_HINT_FAULTS) : std::move(chosen);
}

PageBits bits_of(mlrun_access_rung rung) {
  if (rung == MLRUN_ACCESS_COLD) return PageBits::kCold;
  return rung == MLRUN_ACCESS_SOFT_DIRTY ? PageBits::kSoftDirty : PageBits::kClearRefs;
}

std::string bits_problem(mlrun_access_rung rung, int error) {
  std::string text = std::strerror(error);
  if (error == ENOMEM) return "there is not enough memory to try it";
  if (rung == MLRUN_ACCESS_COLD) return text + ": process_madvise needs Linux 5.10 and CAP_SYS_NICE";
  if (error == ENOENT)
    return "there is no /proc/PID/clear_refs: a container hides it, or the kernel has none (CONFIG_PROC_PAGE_MONITOR)";
  if (error == EROFS || error == EACCES || error == EPERM)
    return text + ": /proc/PID/clear_refs cannot be written, as in some containers";
  return text;
}

ChosenRung try_bits(mlrun_access_rung rung, const AccessOptions& options, bool is_named) {
  ChosenRung chosen{{rung, "", "", ""}, nullptr};
  const BitsOptions bits{.bits = bits_of(rung),
                         .cost = calibrate_pages(bits_of(rung)),
                         .window_ns = window_ns_of(options, kWindowNs),
                         .stall_max_ns = is_named ? std::numeric_limits<uint64_t>::max() : kStallMaxNs};
  if (bits.cost.error != 0) {
    chosen.tried.problem = bits_problem(rung, bits.cost.error);
    return chosen;
  }
  if (!bits.cost.works) {
    chosen.tried.problem = rung == MLRUN_ACCESS_SOFT_DIRTY
                               ? "this kernel does not mark written pages (CONFIG_MEM_SOFT_DIRTY)"
                               : "this kernel does not show which pages were accessed";
    return chosen;
  }
  if (rung == MLRUN_ACCESS_COLD) {
    chosen.tried.remark = "when memory runs short, the kernel reclaims the sampled pages first";
  } else {
    chosen.tried.remark =
        fmt::format("each window delays page faults of the program by about {:.1f} ms per GiB in memory",
                    static_cast<double>(stall_ns(bits.cost, kPagesOfGiB)) / 1e6);
  }
  chosen.made = make_bits_rung(bits);
  return chosen;
}

ChosenRung try_damon(const AccessOptions& options) {
  ChosenRung chosen{{MLRUN_ACCESS_DAMON, damon_problem({}), "", ""}, nullptr};
  if (!chosen.tried.problem.empty()) return chosen;
  chosen.made = make_damon_rung({}, window_ns_of(options, kWindowNs));
  return chosen;
}

}  // namespace

std::string rung_is_blind_to(mlrun_access_rung rung) {
  std::string text = text_of(rung).blind;
  if (reads_anonymous_memory(rung)) text += "; shared memory and mapped files, so also blocks of --pmem";
  return text;
}

ChosenRung try_rung(mlrun_access_rung rung, const AccessOptions& options, bool is_named) {
  switch (rung) {
    case MLRUN_ACCESS_PRECISE: return try_precise(options);
    case MLRUN_ACCESS_HINT_FAULTS: return try_hint_faults(options, is_named);
    case MLRUN_ACCESS_FAULTS: return try_faults(rung);
    case MLRUN_ACCESS_COLD:
    case MLRUN_ACCESS_CLEAR_REFS:
    case MLRUN_ACCESS_SOFT_DIRTY: return try_bits(rung, options, is_named);
    case MLRUN_ACCESS_DAMON: return try_damon(options);
    case MLRUN_ACCESS_RUNGS: break;
  }
  return {{rung, "there is no such rung", "", ""}, nullptr};
}

std::vector<ChosenRung> choose_rungs(const AccessOptions& options, std::vector<TriedRung>& tried) {
  std::vector<ChosenRung> chosen;
  const auto is_named = [&](const char* name) {
    return std::find(options.rungs.begin(), options.rungs.end(), name) != options.rungs.end();
  };
  for (const RungText& text : kRungs) {
    const bool wanted = options.rungs.empty() ? chosen.empty() && !has_to_be_named(text.rung)
                                              : is_named(util::access_rung_name(text.rung));
    if (!wanted) continue;
    ChosenRung one = try_rung(text.rung, options, !options.rungs.empty());
    tried.push_back(one.tried);
    if (one.made) chosen.push_back(std::move(one));
  }
  return chosen;
}

std::vector<TriedRung> try_all_rungs() {
  std::vector<TriedRung> tried;
  for (const RungText& text : kRungs) {
    const ChosenRung one = try_rung(text.rung, {}, false);
    tried.push_back(one.tried);
    if (one.made) tried.back().cost = one.made->facts().cost;
  }
  return tried;
}

}  // namespace mlrun::access
