// SPDX-License-Identifier: Apache-2.0
// run.json and session.json as values; the keys are those of runner/trace/TABLES.md and runner/launch/README.md. A merge makes run.json
// from session.json: it removes what only a run in progress needs, and adds the rest. Traces of other versions lack some keys: a field
// whose key is missing, or of another type, keeps its default, and a list leaves out entries of another type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/json_value.h"
#include "runner/util/result.h"

namespace mlrun::model {

using Number = std::optional<int64_t>;  // nullopt: missing
using Texts = std::vector<std::string>;

struct ClockReading {
  struct Discipline {
    bool is_synchronised = false;
    int64_t max_error_ns = 0;
  };
  Number monotonic_ns, realtime_ns;
  int64_t tsc = 0, width_ticks = 0, boottime_ns = 0;
  Discipline discipline;
};

struct RunClock {
  std::string kind;  // "tsc" or "monotonic"
  ClockReading start, end;
  int64_t error_ns = 0;
  Number realtime_offset_start_ns, realtime_offset_end_ns;
  std::vector<std::pair<int64_t, int64_t>> realtime_offset_by_time;  // at_ns, offset_ns
};

struct RunHost {
  std::string name, kernel, boot_id, time_namespace, network_namespace;
  Number cores;
};

struct RunJob {
  struct Source {
    std::string id, rank;
  };
  std::string id, array_id, array_task, step;
  int64_t nodes = 0;
  Source source;
};

struct RecordingOptions {
  std::optional<Texts> streams;  // nullopt: unknown
  Texts asked_streams, include, exclude;
  Number graph_nodes_per_s, fold_ns, last_ns;
  int64_t stack_depth = 0, alloc_sample_bytes = 0, alloc_min_bytes = 1024;
  uint64_t max_spool_bytes = 0;
  bool summary_only = false, lossless = false, alloc_times = false, keep_raw = false;
  bool whole_graphs = false, wait_all = false;
  std::optional<double> python_stacks_hz;
};

struct Arena {
  std::string path, medium;
  int64_t bytes = 0;
};

// A file that was open when the run began.
struct OpenFile {
  int64_t fd = -1, device = 0, inode = 0;
  std::string path;
};

struct Observed {
  // "processes" (--pid), "cgroup" or "system"; "command": mlrun started the command without its library.
  std::string scope;
  std::vector<int64_t> children_before;  // pids that are not observed
};

struct Collector {
  std::string medium;
  Number cpu_ns, channels, gpu_processes, added_up;
  std::map<std::string, int64_t> failures, without_channel;

  [[nodiscard]] int64_t failed(const std::string& how) const;
};

struct ResourceUse {
  int64_t major_faults = 0, minor_faults = 0, input_blocks = 0, output_blocks = 0;
  Number read_bytes;
};

struct CallCosts {
  std::optional<std::map<std::string, double>> cost_per_call_ns;  // by cost class
  std::string source;
  int64_t measured_realtime_ns = 0;
};

struct SamplerState {
  std::string problem;       // one line: why there are no samples, or none after some time; empty: no problem
  int64_t rows_dropped = 0;  // dropped because the collector did not fetch in time
};

struct GpuSampler : SamplerState {
  struct NotSampled {
    int64_t gpu_id = 0;
    Texts what;
  };
  int64_t gpus = 0, samples = 0;
  int64_t late_samples = 0;             // skipped because the driver was still answering the previous sample
  int64_t sample_ns = 0;                // total duration of all samples
  std::vector<NotSampled> not_sampled;  // fields that the driver does not sample
};

// Python stacks, threads and the machine, which one thread samples.
struct RoundsSampler : SamplerState {
  int64_t thread_rows = 0, machine_rows = 0;
  int64_t cpu_ns = 0, wall_ns = 0;  // times of the thread
  double share_max = 0;             // of a CPU
};

struct MachineSampler : SamplerState {
  struct NotSampled {
    std::string sample, text;  // word, and reason or remark, one line each
  };
  int64_t samples = 0;
  int64_t left_out = 0;  // samples skipped because of the share; with other words, those of all words but `process`
  int64_t process_left_out = 0;  // with other words: samples of `process` that were skipped
  int64_t late_samples = 0;      // due while one took too long, or while mlrun was stopped or got no processor
  int64_t rows = 0, cpu_ns = 0, wall_ns = 0;  // times of the thread
  double share_max = 0;                       // of a CPU
  std::vector<NotSampled> not_sampled, remarks;
  Texts absent;  // words of --sample for which there are no samples
};

struct PythonSampler : SamplerState {
  struct Problem {
    std::string text;
    std::vector<int64_t> processes;  // their numbers
  };
  bool is_reported = false;  // false: mlrun was killed before it reported
  bool by_name = false;
  int64_t rounds = 0;           // over the threads
  int64_t rounds_left_out = 0;  // of these, those that could not sample all threads
  int64_t samples = 0;
  int64_t discarded = 0;          // stacks that changed during every attempt to read them
  std::vector<Problem> problems;  // the reasons why processes have no stacks
};

struct Placement {
  static constexpr const char* kSharedMemory = "shared memory";  // `file` of memory that processes share without a file
  static constexpr const char* kOtherFiles = "other files";  // `file` of the mapped files of ended processes, summed

  struct Rule {
    std::string text, folder, policy;    // policy: what it asked for of its nodes; empty: it names none
    std::vector<int64_t> nodes, shares;  // shares: of a ratio, by node
    uint64_t min_bytes = 0, max_bytes = 0;
    bool mmap = false, strict = false, huge = false, memkind = false;
  };
  struct Counts {
    int64_t matches = 0, bytes = 0, fallbacks = 0, fallback_bytes = 0, live_bytes = 0, peak_bytes = 0;
  };
  struct Pages {
    int64_t pid = 0, rule = -1, node = 0, samples = 0, sampled = 0, bytes = 0, resident_bytes = 0;
    std::string file;  // "": memory without a file
  };
  struct Unsampled {
    int64_t rule = 0;
    std::string why;
  };
  struct Process {
    int64_t pid = 0, window = 0, window_bytes = 0;
    std::vector<Counts> rules;
    std::vector<Pages> pages;
    std::vector<Unsampled> unsampled;
    std::vector<int64_t> mappings_left_out;  // rules of which not all mappings could be sampled
  };
  struct Site {                    // a site with pages that are not where its rule, or the policy, asked for
    int64_t rule = -1, bytes = 0;  // rule: -1: the policy; bytes: on such nodes
    std::string site;              // "": in no listed block
  };
  struct Balancing {  // kernel.numa_balancing; -1: unknown, or this kernel has none
    int64_t before = -1, after = -1;
  };
  struct Machine {
    int64_t numa_pages_migrated = 0, oom_kill = 0;
    Number cgroup_oom_kill,
        cgroup_oom;  // processes of mlrun's cgroup that were killed; how often a limit of it was reached
    // Pages that the kernel moved to slower and faster nodes.
    int64_t pgdemote_kswapd = 0, pgdemote_direct = 0, pgdemote_khugepaged = 0, pgpromote_success = 0;
  };
  // policy: the option that chose mem_node, without its dashes; weights: of weighted-interleave, "0:3,1:1".
  std::string cpus, policy, mem_node, weights;
  std::string problem, policy_problem;  // why no pages were sampled; policy_problem: none of memory under the policy
  std::vector<Pages>
      pages;  // of the processes under the policy, what no rule places: private anonymous memory and mapped files
  std::vector<Rule> rules;
  std::vector<Site> sites;                        // at most three of each rule, those with the most bytes first
  std::optional<std::vector<Process>> processes;  // nullopt: mlrun was killed, and the counts are lost
  Number images, without_memory, without_block_rules, not_counted, without_rules;
  int64_t processes_left_out = 0;  // those of which some mapped file has no samples, for lack of room
  Balancing numa_balancing;
  Machine counted;
};

struct KernelSide {
  struct Signal {
    std::string signal, mechanism, missing, note;
  };
  struct Program {
    std::string event, file_system;
    std::optional<std::string> missing;
    Number since_ns;
  };
  struct Skipped {
    std::string program;
    int64_t times = 0;
  };
  struct Library {
    struct Process {
      int64_t pid = 0, functions = 0;
      std::string path;
      std::optional<std::string> missing;
      bool was_there = false, was_probed = false;
    };
    struct DetachedProbe {
      std::string function;
      int64_t calls_per_second = 0, at_ns = 0;
    };
    std::vector<Process> libraries;
    std::vector<DetachedProbe> detached;
    int64_t put_off = 0;
  };
  struct BlockDevice {
    int64_t device = 0;
    std::string name, kind, path_name, model, scheduler;
    std::optional<bool> rotational;
    Texts below;
  };
  struct BlockTotal {
    int64_t device = 0, op = -1, requests = 0, bytes = 0, device_ns = 0, errors = 0, own_requests = 0, own_bytes = 0;
  };
  struct Spool {
    int64_t left_out = 0;
  };
  struct Throttled {  // waits because too many pages were dirty
    int64_t asleep_ns = 0, waits = 0;
  };
  struct Times {
    int64_t p50 = 0, p95 = 0, p99 = 0, max = 0;
  };
  struct Device {
    std::string name;
    int64_t dev = 0, requests = 0, reads = 0, read_bytes = 0, writes = 0, write_bytes = 0, flushes = 0, others = 0;
    int64_t errors = 0;
    Times queue_ns, device_ns;
  };
  struct Syscall {
    std::string name;
    int64_t calls = 0, errors = 0, time_ns = 0, processes = 0;
    Number p50_below_ns, p99_below_ns;
  };
  std::string state, reason;
  Number records;
  int64_t unobserved_at_exec = 0, unseen_32bit_calls = 0;
  Spool spool;
  std::vector<Signal> signals;
  std::vector<Program> programs;
  std::vector<Skipped> skipped;
  std::vector<BlockDevice> devices;
  std::vector<BlockTotal> totals;              // of all processes, by device and operation
  std::optional<Library> cuda, cufile, torch;  // nullopt: not requested, or mlrun was killed before it reported
  std::optional<Throttled> throttled;
  std::optional<std::vector<Device>> own_devices;
  std::optional<std::vector<Syscall>> syscalls;

  [[nodiscard]] bool has_recorded() const { return state == "recorded"; }  // until the end of the run
  // The mechanism that records a signal; empty: none works.
  [[nodiscard]] std::string attached_by(std::string_view signal) const;
  // Whether a BPF program is attached to the event.
  [[nodiscard]] bool has_program(std::string_view event) const;
  // Whether a BPF program for the event could not be attached.
  [[nodiscard]] bool lacks_program(std::string_view event) const;
};

struct MemoryAccess {
  struct Rung {
    std::string rung, blind_to;
    std::string cost;     // one line: the calibrated or measured cost
    std::string problem;  // the first problem that cost rows; empty: none
    // `samples`: windows, or starts of DAMON. `left_out`: windows skipped because of their stall, times that events were
    // switched off, or processes beyond DAMON's limit.
    int64_t samples = 0, left_out = 0;
    int64_t lost = 0;               // samples that did not fit into the buffer
    int64_t on_ns = 0, all_ns = 0;  // time in which accesses were seen; all time. Windows: sums over processes
    int64_t sample_ns = 0;          // calibrated cost of a sample; 0: not calibrated
    // Calibrated cost of a page: to clear its bit, and of its first touch after that.
    int64_t page_clear_ps = 0, page_touch_ps = 0;
    int64_t predicted_stall_ns = 0, worst_stall_ns = 0;  // the longest call that delayed page faults
    int64_t worst_read_ns = 0;  // the longest read that delayed calls that change the program's mappings
  };
  struct Tried {
    std::string rung, problem, remark;  // problem: why it was not used
    bool asked = false;                 // the user asked for it
  };
  struct Site {
    std::string site;
    int64_t processes = 0, blocks = 0, bytes = 0, samples = 0, loads = 0, stores = 0, faults = 0;
    double byte_s = 0, seen_byte_s = 0;
    std::optional<double> hot_fraction;
  };
  struct Found {
    std::string rung;
    int64_t rows = 0, joined_rows = 0;  // of `access`; joined: a listed block was there
    double byte_s = 0, seen_byte_s = 0, touched_byte_s = 0;
    double shared_byte_s = 0;  // not attributed, since blocks of several sites were in one window
    int64_t sites = 0;
    std::vector<Site> largest;
  };
  std::string problem;
  int64_t rows_dropped = 0;
  std::vector<Rung> rungs;
  std::vector<Tried> tried;
  std::vector<Found> by_rung;
};

struct GpuSteps {
  struct Device {
    int64_t gpu_id = 0, steps = 0, time_ns = 0, idle_ns = 0, idle_p50_ns = 0, idle_p99_ns = 0, idle_max_ns = 0;
  };
  struct Blamed {
    std::string label, path;
    int64_t proc_id = 0, thread_id = 0, time_ns = 0;
  };
  struct Step {
    std::string name;
    int64_t gpu_id = 0, number = 0, proc_id = 0, start_ns = 0, duration_ns = 0, idle_ns = 0;
    std::map<std::string, int64_t> idle;  // by label
    std::optional<Blamed> blamed;
  };
  std::vector<Device> devices;
  std::vector<Step> worst;
  int64_t left_out = 0;
};

struct RunCoverage {
  std::string level, subject, detail;
  int64_t rows = 0;
};

struct Run {
  Texts command;
  std::string cwd, session, mlrun_version;
  std::string state;                 // "running", "incomplete" (disk full) or "collected"
  std::optional<Observed> observed;  // nullopt: mlrun started the command with its library
  Number exit_status;                // as in a shell, 128 + signal
  int64_t wait_status = -1, max_rss_bytes = 0;
  Number start_ns, end_ns, wall_ns;      // of the command
  Number user_ns, sys_ns;                // of the command and its waited-for children
  Number events_from_ns;                 // --last freed older events
  bool recovered = false;                // mlrun was killed; the end of the command is unknown
  bool is_merged = false;                // merged from the traces of several nodes
  int64_t folded_nodes = 0;              // nodes of CUDA graphs without rows
  int64_t frames_left_out = 0;           // of the spool: reports that did not fit
  int64_t unwatched_processes = 0;       // processes beyond the 4,096 that mlrun watches
  Texts mllog;                           // paths, relative to cwd
  std::vector<OpenFile> standard_files;  // of the command's first three descriptors
  Arena arena;
  RunClock clock;
  RunHost host;
  RunJob job;
  RecordingOptions options;
  Collector collector;
  ResourceUse use;
  CallCosts cost;
  GpuSampler gpu_sampler;
  RoundsSampler sampler;
  MachineSampler machine_sampler;
  PythonSampler python_stacks;
  Placement placement;
  KernelSide kernel_side;
  MemoryAccess access;
  GpuSteps gpu_steps;
  std::map<std::string, int64_t> totals;
  std::optional<std::vector<RunCoverage>> coverage;

  // All keys of run.json, for parts that are copied or shown unchanged, and for keys without a field.
  util::JsonValue document;

  [[nodiscard]] std::string command_text() const;
  [[nodiscard]] Number begin_ns() const;     // start of the command, else of the recording
  [[nodiscard]] Number duration_ns() const;  // duration of the command
  [[nodiscard]] Number total(const char* name) const;
  // Whether the stream was requested.
  [[nodiscard]] bool has_stream(std::string_view name) const;
  // Whether the stream was requested by name, not by default.
  [[nodiscard]] bool asked_for(std::string_view name) const;
  // The mechanism by which the kernel side recorded a signal until the end of the run; empty: none.
  [[nodiscard]] std::string recorded_by(std::string_view signal) const;
  [[nodiscard]] bool is_preload_off() const { return options.streams && options.streams->empty(); }
};

[[nodiscard]] Run run_of(nlohmann::json document);

// Fails if the folder has no run.json, or if it is not a JSON object.
Result<Run> read_run(const std::string& trace_folder);

// The file can be read by its owner only, since it contains arguments and the environment.
Status write_run(const nlohmann::json& document, const std::string& trace_folder);

}  // namespace mlrun::model
