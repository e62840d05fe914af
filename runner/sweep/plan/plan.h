// SPDX-License-Identifier: Apache-2.0
// What a sweep is to run: configurations × workloads × repetitions. Made from a plan in TOML or from a modes file, checked whole
// before anything is created.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mlrun::sweep {

using Words = std::vector<std::string>;
using Parameters = std::map<std::string, std::string>;  // name → value

enum class Order {
  kBlocks,   // each block runs every configuration × workload once, in seeded random order
  kSequence  // one configuration after the other: a drift of the machine looks like an effect
};

// Against which machine CPUs, nodes and kinds of memory are checked. Those of other machines are unknown here: each run checks them itself.
enum class RunsOn { kThisMachine, kOthers };

// What is done with the page cache before each run of a configuration.
enum class Cache { kAsIs, kCold, kWarm };

struct Configuration {
  std::string name;
  Words options;                         // options of `mlrun run`
  std::string rules;                     // hash_of_rule_files() when the plan was read
  bool is_dry = false;                   // without recording
  std::string cpus, cpu_node, mem_node;  // lists as in --cpus, --cpu-node and --mem-node; empty: all
  Cache cache = Cache::kAsIs;
  std::map<std::string, std::string> environment;
  Parameters parameters;  // override the matrix's values of the same names
};

// A workload of the plan with one combination of the matrix's values. A {name} that configurations set themselves stays in `key`, so that
// configurations with different values of it are compared with each other.
struct Workload {
  std::string key;        // the command with the values of the matrix
  std::string text;       // as the plan has it
  Parameters parameters;  // its values of the matrix
};

// One run to make.
struct PlannedRun {
  int32_t block = 0;                         // repetition, from 1 on
  int32_t position = 0;                      // in the order in which runs are made, from 1 on
  uint32_t configuration = 0, workload = 0;  // indices
  Words command;                             // all values filled in
  std::string folder;                        // name below OUT/runs: PROGRAM-AND-ARGUMENTS.CONFIGURATION.BLOCK, unique
};

struct StopRule {
  double within = 0;  // the interval's half width, as a fraction, of the question's first figure; 0: no rule
  int32_t at_least = 8, at_most = 0;
};

struct Plan {
  std::vector<Configuration> configurations;
  std::vector<Workload> workloads;  // a configuration runs those whose {names} it or `defaults` fill
  Parameters defaults;              // values of {names} that stay in keys, for configurations that do not set them
  int32_t repetitions = 0;
  int32_t warm_up = 0;  // runs of each configuration × workload before the first block, which are in no figure
  Order order = Order::kBlocks;
  uint64_t seed = 0;
  uint64_t time_limit_ns = 0;  // of a run, and of each command around it; 0: none
  uint64_t pause_ns = 0;       // pause between runs
  Words before, after;         // commands around each run; empty: none
  std::string input;           // a file as standard input of each run; empty: /dev/null
  int32_t retries = 0;         // further attempts of a failed run
  StopRule stop;
  std::vector<std::string> question;  // figures whose verdicts are corrected for their number; empty: wall_s
  double margin = 0.03;               // for "equal within", a fraction
  std::string directory;              // in which runs start; empty: unknown
  std::string text;                   // in TOML, also of a modes file: parse_plan reads it again
  std::string hash;                   // of everything above that decides what runs are made and how
};

// The command of a workload in a configuration, all values filled in; empty: this configuration does not run it.
Words command_of(const Plan& plan, const Configuration& configuration, const Workload& workload);

// Every run of the first `repetitions` blocks, in planned order; warm-up runs are not among them. The order within a block
// depends on the seed and the block's number alone, so that more repetitions change no earlier block.
std::vector<PlannedRun> planned_runs(const Plan& plan, int32_t repetitions);

}  // namespace mlrun::sweep
