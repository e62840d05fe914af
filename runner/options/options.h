// SPDX-License-Identifier: Apache-2.0
// The checked options of each verb that mlrun itself runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/options/monitor_settings.h"
#include "runner/options/path_rules_bytes.h"
#include "runner/util/kernel_streams.h"
#include "runner/util/result.h"

namespace mlrun {

using Arguments = std::vector<std::string>;

// CUDA graph nodes that a process records one by one per second.
inline constexpr uint32_t kGraphNodesPerS = 100000;

// How a stream was requested.
enum class Wish {
  kAuto,     // recorded if available
  kOn,       // requested by name
  kRequire,  // without it the command is not run
  kOff
};

// What the kernel side attaches to instead of running a command: one of the three.
struct ObserveOptions {
  std::vector<int> pids;
  std::string cgroup;  // as given
  bool system = false;
  uint64_t duration_ns = 0;  // 0: until a signal ends it
  uint64_t live_ns = 0;      // interval of the GPU memory table; 0: none

  [[nodiscard]] bool any() const { return !pids.empty() || !cgroup.empty() || system; }
};

// How accesses to memory are seen (runner/samplers/access).
struct AccessOptions {
  Wish wish = Wish::kOff;
  std::vector<std::string> rungs;  // as named; empty: the first that works
  double hz = 0;                   // 0: the default of each mechanism
  std::optional<uint64_t> read_event, write_event;
  bool under_policy = false;  // the command gets a policy of memory, by --mem-node or its like
};

struct RunOptions {
  Wish preload = Wish::kAuto;
  bool files = true;
  bool allocs = true;
  bool marks = true;
  Wish sample = Wish::kAuto;
  bool sample_gpu = true;
  bool sample_threads = true;  // numbers of each thread from /proc; like python_stacks, of processes that record
  bool sample_machine = true;
  std::vector<std::string> sample_counters;   // of cpu, disk, net, memory, process; none unless named
  Wish cupti = Wish::kOff;                    // kAuto: if there is a driver
  bool cupti_was_auto = false;                // problems with an automatic stream are not reported
  bool whole_graphs = false;                  // record graph launches instead of their nodes
  std::optional<uint32_t> graph_nodes_per_s;  // above this rate record launches; none: kGraphNodesPerS
  double sample_hz = 10;
  launch::PathRules path_rules;
  std::string path_rules_bytes;    // path_rules, encoded for the arena
  std::vector<std::string> place;  // rules, or files of rules, as given
  std::string mem_kind, pmem;      // as given; "": none
  Wish kprobes = Wish::kOff;       // off unless named
  AccessOptions access;
  util::KernelStreams kernel_streams;
  std::vector<std::string_view> kprobes_required;  // signals (kprobes/signals.h) named beside =require; they stay
  ObserveOptions observe;
  std::optional<std::string> output;
  uint64_t alloc_min_bytes = 1024;
  uint64_t alloc_sample_bytes = 0;  // 0: no sampling
  bool alloc_times = false;         // a duration for every allocation and free that is listed
  uint32_t stack_depth = 0;         // frames; 0: no stacks
  Wish python_stacks = Wish::kAuto;
  double python_stacks_hz = 20;  // samples of a thread per second
  bool lossless = false;
  std::optional<uint64_t> buffer_bytes;
  std::optional<uint64_t> max_spool_bytes;
  uint64_t last_ns = 0;                                    // 0: everything is kept
  uint64_t fold_ns = 0;                                    // shorter calls are recorded as sums; 0: none
  bool summary_only = false;                               // events are only added up
  std::vector<std::string> mllog;                          // absolute paths
  std::vector<std::string> kept_environment;               // names of variables that are stored unmasked
  std::string cpus, cpu_node, mem_node;                    // lists as given; empty: all
  std::string preferred, interleave, weighted_interleave;  // lists; at most one of these and mem_node is given
  bool wait_all = false;
  bool defer_merge = false;
  bool keep_raw = false;
  bool quiet = false;
  bool verbose = false;
  std::vector<std::string> command;  // empty only with --pid, --cgroup or --system

  [[nodiscard]] bool places() const { return !place.empty() || !mem_kind.empty() || !pmem.empty(); }
  [[nodiscard]] bool samples_gpus() const { return sample != Wish::kOff && sample_gpu; }
};

struct FolderOptions {
  std::string folder;
  bool quiet = false;
  bool keep_raw = false;
};

struct CleanOptions {
  bool dry_run = false;
  bool all = false;
};

struct DoctorOptions {
  bool fix = false, yes = false;
};

struct BenchOptions {
  double seconds = 5;
  bool json = false;
};

// Each returns nullopt after printing the requested help.
Result<std::optional<RunOptions>> parse_run(const Arguments& arguments);
Result<std::optional<FolderOptions>> parse_recover(const Arguments& arguments);
Result<std::optional<FolderOptions>> parse_folder(const std::string& verb, const std::string& does,
                                                  const std::string& footer, const Arguments& arguments);
Result<std::optional<CleanOptions>> parse_clean(const Arguments& arguments);
Result<std::optional<BenchOptions>> parse_bench(const Arguments& arguments);
Result<std::optional<DoctorOptions>> parse_doctor(const Arguments& arguments);
Result<std::optional<monitor::Settings>> parse_monitor(const Arguments& arguments);

}  // namespace mlrun
