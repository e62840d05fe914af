// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/placement_side.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/collect/sample_frames.h"
#include "runner/model/run_keys.h"
#include "runner/placement/resolve.h"
#include "runner/samplers/proc/cgroup.h"
#include "runner/samplers/proc/proc_file.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/log.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::commands {

namespace {

constexpr uint64_t kFollowNs = 500'000'000, kFollowOftenNs = 50'000'000;
constexpr uint64_t kBeginningNs = 1'000'000'000;  // in it, a short command is followed often
constexpr uint64_t kPauseOfFollow = 500;          // pauses are this many times longer than follow() takes,
constexpr uint64_t kPauseMaxNs = 5'000'000'000;   // up to this: slots are given back in time
constexpr uint64_t kSearchNs = 4'000'000;         // of CPU time in one call, for pids of other namespaces

nlohmann::json counts_of(const mlrun_place_count& count) {
  return {{"matches", count.matches},       {"bytes", count.bytes},
          {"fallbacks", count.fallbacks},   {"fallback_bytes", count.fallback_bytes},
          {"live_bytes", count.live_bytes}, {"peak_bytes", count.peak_bytes}};
}

// Adds a row for each node to `list`; `about`: whose pages they are.
void add_pages(const placement::PagesFound& pages, const nlohmann::json& about, nlohmann::json& list) {
  for (const auto& [node, sampled] : pages.sampled) {
    nlohmann::json row = about;
    row["node"] = node;
    row["samples"] = pages.samples;
    row["sampled"] = sampled;
    const auto bytes = pages.bytes.find(node);
    const double sum = bytes == pages.bytes.end() ? 0 : bytes->second;  // 0: only while memory was filled or freed
    row["resident_bytes"] = pages.resident_bytes / pages.full_samples;
    row["bytes"] = static_cast<uint64_t>(sum / static_cast<double>(pages.full_samples));
    list.push_back(std::move(row));
  }
}

// Empty: the process ended before its first sample.
std::string why_none(const placement::PagesFound& pages) {
  if (pages.error != 0) return fmt::format("the kernel refuses: {}", std::strerror(pages.error));
  return pages.samples != 0 ? "none of them was in memory" : "";
}

nlohmann::json counted_json(const placement::CountsArea& area, const placement::CountedProcess& process) {
  nlohmann::json result = {{"pid", process.pid},
                           {"window", process.window},
                           {"window_bytes", process.window_bytes},
                           {"rules", nlohmann::json::array()},
                           {"pages", nlohmann::json::array()},
                           {"unsampled", nlohmann::json::array()},
                           {"mappings_left_out", nlohmann::json::array()}};
  for (const mlrun_place_count& count : area.counts_of(process.slot)) result["rules"].push_back(counts_of(count));
  return result;
}

// Adds the samples of a rule's pages in a process to its description, or why there are none.
void add_found(const placement::FoundPages& found, const placement::CountedProcess& process, uint32_t rule,
               nlohmann::json& to) {
  const auto pages = found.by_number_and_rule.find({process.number, rule});
  const bool was_tried = pages != found.by_number_and_rule.end();
  const bool lacks_mappings = (process.mappings_left_out >> rule & 1) != 0;
  if (lacks_mappings) to["mappings_left_out"].push_back(rule);
  if (was_tried && !pages->second.sampled.empty()) {
    add_pages(pages->second, {{"rule", rule}}, to["pages"]);
    return;
  }
  std::string why = was_tried ? why_none(pages->second) : "";
  if (lacks_mappings && (!was_tried || pages->second.error == 0)) why = "its mappings are no longer known";
  if (process.number != 0 && process.pid == 0) why = "the pid of a process is unknown, because of its seccomp filter";
  if (process.pid != 0 && process.pid_namespace == 0) why = "the pid of a process is unknown, because it has no /proc";
  if (!why.empty()) to["unsampled"].push_back({{"rule", rule}, {"why", why}});
}

void describe_counts(nlohmann::json& placement, const mlrun_placement& head) {
  placement["images"] = head.processes;
  placement["without_memory"] = head.without_memory;
  placement["without_block_rules"] = head.without_block_rules;
  placement["not_counted"] = head.not_counted;
}

// kernel.numa_balancing, bits: 1 balances, 2 moves pages between fast and slow memory. -1: this kernel has none.
int balancing() {
  const std::string text = util::read_text("/proc/sys/kernel/numa_balancing", 16);
  return text.empty() ? -1 : util::leading_number<int>(text);
}

// Adds what the kernel counts of its OOM killer in mlrun's cgroup, if that is of version 2.
void add_cgroup_counters(std::map<std::string, int64_t>& counters) {
  const proc::Cgroup cgroup =
      proc::find_cgroup(util::read_text("/proc/self/cgroup"), util::read_text("/proc/self/mountinfo"));
  const auto count = [](const std::string& path, const char* name) -> std::optional<int64_t> {
    uint64_t value = 0;
    const bool is_there = proc::number_after(util::read_text(path), name, value);
    return is_there ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
  };
  if (cgroup.unified.empty()) return;
  if (const auto killed = count(cgroup.unified.front() + "/memory.events", "oom_kill "))
    counters["cgroup_oom_kill"] = *killed;
  for (const std::string& folder : cgroup.unified) {  // a limit may be that of a parent
    if (const auto reached = count(folder + "/memory.events.local", "oom ")) counters["cgroup_oom"] += *reached;
  }
}

// What the kernel counts of moves between nodes, of NUMA balancing and of its OOM killer, on the whole machine.
std::map<std::string, int64_t> machine_counters() {
  std::map<std::string, int64_t> counters;
  const std::string all = util::read_text("/proc/vmstat");
  for (const std::string_view line : util::split(all, "\n")) {
    const size_t blank = line.find(' ');
    const std::string name(line.substr(0, blank));
    if (blank != std::string_view::npos &&
        (name.starts_with("numa_") || name.starts_with("pgmigrate_") || name.starts_with("pgdemote_") ||
         name.starts_with("pgpromote_") || name == "oom_kill"))
      counters[name] = std::strtoll(line.data() + blank, nullptr, 10);
  }
  add_cgroup_counters(counters);
  return counters;
}

nlohmann::json counted_since(const std::map<std::string, int64_t>& before) {
  nlohmann::json result = nlohmann::json::object();
  for (const auto& [name, value] : machine_counters()) {
    const auto found = before.find(name);
    if (found != before.end()) result[name] = value - found->second;
  }
  return result;
}

}  // namespace

Result<Rules> settle_placement(const RunOptions& options, const session::Installation& installation,
                               uint64_t file_bytes_max) {
  Rules result;
  if (!options.places()) return result;
  auto rules = placement::find_rules({options.place, options.mem_kind, options.pmem, file_bytes_max});
  if (!rules) return tl::make_unexpected(rules.error());
  auto bytes = placement::encoded_rules(*rules);
  if (!bytes) return tl::make_unexpected(bytes.error());
  if (const Status usable = session::check_preload_library(installation.placement_library); !usable) {
    return tl::make_unexpected(usable.error());
  }
  for (const placement::Rule& rule : *rules) {
    if (!rule.remark.empty()) util::say(rule.remark);
  }
  result.rules = *std::move(rules);
  result.bytes = *std::move(bytes);
  return result;
}

std::string placement_library(const RunOptions& options, const session::Installation& installation) {
  return options.places() ? installation.placement_library : std::string();
}

void describe_rules(nlohmann::json& session, const Rules& rules) {
  if (rules.rules.empty()) return;
  std::vector<model::Placement::Rule> list;
  for (const placement::Rule& rule : rules.rules) {
    list.push_back({.text = util::escaped_utf8(rule.text),
                    .folder = util::escaped_utf8(rule.folder),
                    .policy = placement::policy_of(rule),
                    .nodes = {rule.nodes.begin(), rule.nodes.end()},
                    .shares = {rule.shares.begin(), rule.shares.end()},
                    .min_bytes = rule.min_bytes,
                    .max_bytes = rule.max_bytes,
                    .mmap = rule.calls == MLRUN_PLACE_MMAP,
                    .strict = rule.strict,
                    .huge = rule.huge,
                    .memkind = rule.memkind});
  }
  session["placement"]["rules"] = model::json_of(list);
}

void describe_recovered(nlohmann::json& session, mlrun_placement& area) {
  const auto rules = static_cast<uint32_t>(util::list_at(session, "/placement/rules").size());
  const std::string policy = util::text_at(session, "/placement/policy");
  if (rules == 0 && policy.empty()) return;
  nlohmann::json& placement = session["placement"];
  if (placement.contains("problem")) return;
  placement["problem"] = "mlrun was killed";
  if (rules == 0) return;
  const placement::CountsArea counted(area, rules);
  nlohmann::json processes = nlohmann::json::array();
  for (const placement::CountedProcess& process : counted.processes())
    processes.push_back(counted_json(counted, process));
  describe_counts(placement, counted.head());
  placement["processes"] = std::move(processes);
}

namespace {

bool places_mappings(const Rules& rules) {
  return std::any_of(rules.rules.begin(), rules.rules.end(),
                     [](const placement::Rule& rule) { return rule.calls == MLRUN_PLACE_MMAP; });
}

}  // namespace

PlacedMemory::PlacedMemory(const Rules& rules, bool has_policy, bool keeps_rows, collect::Recording& recording)
    : area_(recording.arena().placement(), static_cast<uint32_t>(rules.rules.size())),
      rules_(static_cast<uint32_t>(rules.rules.size())),
      places_mappings_(places_mappings(rules)),
      samples_processes_(has_policy && !places_mappings_),
      counters_before_(machine_counters()),
      balancing_before_(balancing()),
      often_until_ns_(util::monotonic_ns() + kBeginningNs),
      recording_(recording) {
  std::error_code ignored;
  const std::string path = std::filesystem::canonical(recording.arena().path(), ignored).string();
  if (rules_ != 0 || has_policy) sampler_ = std::make_unique<placement::PageSampler>(rules_, path, keeps_rows);
}

bool PlacedMemory::follow_slots(std::vector<placement::HeapPlace>& heaps) {
  std::map<uint32_t, std::vector<placement::PlacedMapping>> mappings;
  const std::vector<placement::CountedProcess> all = area_.processes();
  if (places_mappings_) mappings = area_.mappings();
  owners_.look(all, kSearchNs);
  std::vector<placement::CountedProcess> ended;
  std::set<uint32_t> gone;
  for (const placement::CountedProcess& process : all) {
    const placement::Owner* const owner = owners_.of(process);
    if (owner == nullptr) continue;
    if (owner->ended) {
      ended.push_back(process);
      gone.insert(process.slot);
    } else if (owner->is_sampled) {
      heaps.push_back({process.number, owner->host_pid, process.window, process.window_bytes, mappings[process.slot],
                       process.vdso_page});
    }
  }
  if (places_mappings_) area_.forget_mappings(gone);
  const auto inherited = static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [&](const auto& process) { return process.slot >= area_.inherited_from(); }));
  const bool lacks_caches = area_.caches_are_scarce();
  if (lacks_caches) area_.give_back_caches(gone);
  const bool lacks_slots = give_back(ended, all.size(), inherited);
  return lacks_caches || lacks_slots;
}

// Until half of the slots are unused, and half of those for children that inherit: those of the processes that began first.
bool PlacedMemory::give_back(const std::vector<placement::CountedProcess>& ended, size_t taken, size_t inherited) {
  const size_t most = area_.slots() / 2, most_inherited = (area_.slots() - area_.inherited_from()) / 2;
  const bool are_scarce = taken > most || inherited > most_inherited;
  std::set<uint32_t> numbers;
  for (const placement::CountedProcess& process : ended) {
    const bool inherits = process.slot >= area_.inherited_from();
    if (taken <= most && !(inherits && inherited > most_inherited)) continue;
    area_.give_back(process.slot);
    numbers.insert(process.number);
    --taken;
    if (inherits) --inherited;
  }
  if (!numbers.empty()) sampler_->sum_up(numbers);
  return are_scarce;
}

void PlacedMemory::follow(uint64_t now_ns, const collect::DescendantWatch& watch) {
  if (!sampler_ || now_ns < next_ns_) return;
  const uint64_t before_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  placement::SampledMemory targets;
  const bool are_scarce = rules_ != 0 && follow_slots(targets.heaps);
  if (samples_processes_) targets.processes = watch.alive();
  if (rules_ != 0) targets.alive = watch.alive();
  sampler_->set_targets(std::move(targets));
  write_rows();
  const uint64_t took_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
  const bool is_often = are_scarce || now_ns < often_until_ns_;
  next_ns_ = now_ns + std::clamp(kPauseOfFollow * took_ns, is_often ? kFollowOftenNs : kFollowNs, kPauseMaxNs);
}

// Those of an earlier pause, if there were two since the last call, stay: the merger gives them no block.
void PlacedMemory::write_rows() {
  placement::PageRows rows = sampler_->fetch();
  const collect::LatestPause& pause = recording_.collector().latest_pause();
  std::erase_if(rows, [&](const mlrun_page_sample& row) { return pause.overlaps(row.monotonic_ns, row.monotonic_ns); });
  collect::SampleFrames frames(recording_.spool(), recording_.arena().clock_kind());
  frames.put_rows(MLRUN_SAMPLE_PAGE, rows);
}

void PlacedMemory::finish() {
  if (!sampler_) return;
  std::string problem;
  sampler_->finish(problem);
  write_rows();
}

nlohmann::json PlacedMemory::processes(const placement::FoundPages& found) const {
  nlohmann::json result = nlohmann::json::array();
  for (const placement::CountedProcess& process : area_.processes()) {
    result.push_back(counted_json(area_, process));
    for (uint32_t rule = 0; rule < rules_; rule++) add_found(found, process, rule, result.back());
  }
  return result;
}

void PlacedMemory::describe(nlohmann::json& session) {
  if (!session.contains("placement")) return;
  nlohmann::json& placement = session["placement"];
  placement["numa_balancing"] = model::json_of(model::Placement::Balancing{balancing_before_, balancing()});
  placement["counted"] = counted_since(counters_before_);
  if (!sampler_) return;
  std::string problem;
  const placement::FoundPages found = sampler_->finish(problem);
  placement["problem"] = problem;
  if (rules_ != 0) {
    describe_counts(placement, area_.head());
    placement["processes"] = processes(found);
    placement["without_rules"] = found.count_without_rules();
  }
  if (!samples_processes_) return;
  placement["pages"] = nlohmann::json::array();
  std::string why;
  for (const auto& [where, pages] : found.by_process_and_file) {
    const auto& [pid, file] = where;
    add_pages(pages, {{"pid", pid}, {"file", util::escaped_utf8(file)}}, placement["pages"]);
    if (pages.sampled.empty() && file.empty()) why = why_none(pages);
  }
  if (placement["pages"].empty()) placement["policy_problem"] = why;
  placement["processes_left_out"] = found.left_out.size() + found.ended_left_out;
}

}  // namespace mlrun::commands
