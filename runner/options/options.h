// SPDX-License-Identifier: Apache-2.0
// The command line of each verb that this program runs itself, as values that have been checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/options/monitor_settings.h"
#include "runner/options/path_rules_bytes.h"
#include "runner/util/result.h"

namespace mlrun {

using Arguments = std::vector<std::string>;

// Nodes of CUDA graphs that a process records one by one in a second.
inline constexpr uint32_t kGraphNodesPerS = 100000;

// How much a stream was asked for.
enum class Wish {
  kAuto,     // if it works here
  kOn,       // named
  kRequire,  // or else the command is not run
  kOff
};

// Whom the kernel side attaches to, instead of to a command that is run: one of the three.
struct ObserveOptions {
  std::vector<int> pids;
  std::string cgroup;  // as given
  bool system = false;
  uint64_t duration_ns = 0;  // 0: until it is told to end
  uint64_t live_ns = 0;      // so often a table of GPU memory; 0: none

  [[nodiscard]] bool any() const { return !pids.empty() || !cgroup.empty() || system; }
};

struct RunOptions {
  Wish preload = Wish::kAuto;
  bool files = true;
  bool allocs = true;
  bool marks = true;
  Wish sample = Wish::kAuto;
  Wish cupti = Wish::kOff;                    // kAuto: where there is a driver
  bool cupti_was_auto = false;                // what does not work of it is not said
  bool whole_graphs = false;                  // launches of graphs instead of their nodes
  std::optional<uint32_t> graph_nodes_per_s;  // above this rate launches too; none: kGraphNodesPerS
  double sample_hz = 10;
  launch::PathRules path_rules;
  std::string path_rules_bytes;  // encoded
  Wish kprobes = Wish::kOff;     // only when it is named
  bool kprobes_wait = true;      // besides the block layer
  bool kprobes_vfs = true;       // likewise: file operations
  bool kprobes_syscalls = false;
  bool kprobes_cuda = false;  // only of what runs already
  bool kprobes_cufile = false;
  bool kprobes_torch = false;
  std::vector<std::string_view> kprobes_required;  // signals (kprobes/signals.h) named beside =require; they stay
  ObserveOptions observe;
  std::optional<std::string> output;
  uint64_t alloc_min_bytes = 1024;
  uint64_t alloc_sample_bytes = 0;  // 0: none is left to chance
  bool alloc_times = false;         // a duration for every allocation and free that is listed
  uint32_t stack_depth = 0;         // frames; 0: no stacks
  double python_stacks_hz = 0;      // looks a second at the Python stacks; 0: none
  bool lossless = false;
  std::optional<uint64_t> buffer_bytes;
  std::optional<uint64_t> max_spool_bytes;
  uint64_t last_ns = 0;                       // 0: everything is kept
  uint64_t fold_ns = 0;                       // shorter calls are listed as sums; 0: none
  bool summary_only = false;                  // nothing is listed, all is added up
  std::vector<std::string> mllog;             // absolute paths
  std::vector<std::string> kept_environment;  // variables that are stored as they are
  bool wait_all = false;
  bool defer_merge = false;
  bool keep_raw = false;
  bool quiet = false;
  bool verbose = false;
  std::vector<std::string> command;  // empty only where something is observed
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

// Each returns nothing when help was asked for and has been printed.
Result<std::optional<RunOptions>> parse_run(const Arguments& arguments);
Result<std::optional<FolderOptions>> parse_recover(const Arguments& arguments);
Result<std::optional<FolderOptions>> parse_folder(const std::string& verb, const std::string& does,
                                                  const std::string& footer, const Arguments& arguments);
Result<std::optional<CleanOptions>> parse_clean(const Arguments& arguments);
Result<std::optional<BenchOptions>> parse_bench(const Arguments& arguments);
Result<std::optional<DoctorOptions>> parse_doctor(const Arguments& arguments);
Result<std::optional<monitor::Settings>> parse_monitor(const Arguments& arguments);

}  // namespace mlrun
