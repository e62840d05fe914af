// SPDX-License-Identifier: Apache-2.0
#include "runner/model/run.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runner/util/damaged_trace.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"

namespace mlrun::model {

using nlohmann::json;

// Each take() returns whether the value has the right type. They are static instead of in an unnamed namespace, so that the templates find those for
// structs by argument-dependent look-up.
static bool take(const json& from, std::string& to) {
  if (from.is_string()) to = from.get<std::string>();
  return from.is_string();
}

static bool take(const json& from, bool& to) {
  to = from == true;
  return from.is_boolean();
}

static bool take(const json& from, int64_t& to) {
  if (from.is_number_integer()) to = from.get<int64_t>();
  return from.is_number_integer();
}

static bool take(const json& from, double& to) {
  if (from.is_number()) to = from.get<double>();
  return from.is_number();
}

static bool take(const json& from, std::pair<int64_t, int64_t>& to) {
  return from.is_array() && from.size() == 2 && take(from[0], to.first) && take(from[1], to.second);
}

template <class Value>
static bool take(const json& from, std::map<std::string, Value>& to) {
  if (!from.is_object()) return false;
  for (const auto& [key, value] : from.items()) {
    if (Value taken{}; take(value, taken)) to[key] = std::move(taken);
  }
  return true;
}

template <class Value>
static bool take(const json& from, std::vector<Value>& to) {
  if (!from.is_array()) return false;
  for (const json& entry : from) {
    if (Value value{}; take(entry, value)) to.push_back(std::move(value));
  }
  return true;
}

template <class Value>
static bool take(const json& from, std::optional<Value>& to) {
  if (Value value{}; take(from, value)) to = std::move(value);
  return to.has_value();
}

static bool keys(const json& from) { return from.is_object(); }

// Takes the values of several keys of an object: "key", to, "key", to, ...
template <class Value, class... Rest>
static bool keys(const json& from, const char* key, Value& to, Rest&&... rest) {
  if (!from.is_object()) return false;
  if (const auto found = from.find(key); found != from.end()) take(*found, to);
  return keys(from, std::forward<Rest>(rest)...);
}

static bool take(const json& from, ClockReading::Discipline& to) {
  return keys(from, "is_synchronised", to.is_synchronised, "max_error_ns", to.max_error_ns);
}
static bool take(const json& from, ClockReading& to) {
  return keys(from, "monotonic_ns", to.monotonic_ns, "realtime_ns", to.realtime_ns, "tsc", to.tsc, "width_ticks",
              to.width_ticks, "boottime_ns", to.boottime_ns, "discipline", to.discipline);
}
static bool take(const json& from, RunClock& to) {
  return keys(from, "kind", to.kind, "start", to.start, "end", to.end, "error_ns", to.error_ns,
              "realtime_offset_start_ns", to.realtime_offset_start_ns, "realtime_offset_end_ns",
              to.realtime_offset_end_ns, "realtime_offset_by_time", to.realtime_offset_by_time);
}
static bool take(const json& from, RunHost& to) {
  return keys(from, "name", to.name, "kernel", to.kernel, "boot_id", to.boot_id, "time_namespace", to.time_namespace,
              "network_namespace", to.network_namespace, "cores", to.cores);
}
static bool take(const json& from, RunJob::Source& to) { return keys(from, "id", to.id, "rank", to.rank); }
static bool take(const json& from, RunJob& to) {
  return keys(from, "id", to.id, "array_id", to.array_id, "array_task", to.array_task, "step", to.step, "nodes",
              to.nodes, "source", to.source);
}
static bool take(const json& from, RecordingOptions& to) {
  return keys(from, "streams", to.streams, "asked_streams", to.asked_streams, "include", to.include, "exclude",
              to.exclude, "graph_nodes_per_s", to.graph_nodes_per_s, "fold_ns", to.fold_ns, "last_ns", to.last_ns,
              "stack_depth", to.stack_depth, "alloc_sample_bytes", to.alloc_sample_bytes, "alloc_min_bytes",
              to.alloc_min_bytes, "summary_only", to.summary_only, "lossless", to.lossless, "alloc_times",
              to.alloc_times, "keep_raw", to.keep_raw, "python_stacks_hz", to.python_stacks_hz);
}
static bool take(const json& from, Arena& to) { return keys(from, "path", to.path, "medium", to.medium); }
static bool take(const json& from, OpenFile& to) {
  return keys(from, "fd", to.fd, "device", to.device, "inode", to.inode, "path", to.path);
}
static bool take(const json& from, Observed& to) {
  return keys(from, "scope", to.scope, "children_before", to.children_before);
}
static bool take(const json& from, Collector& to) {
  return keys(from, "medium", to.medium, "cpu_ns", to.cpu_ns, "channels", to.channels, "gpu_processes",
              to.gpu_processes, "added_up", to.added_up, "failures", to.failures, "without_channel",
              to.without_channel);
}
static bool take(const json& from, ResourceUse& to) {
  return keys(from, "major_faults", to.major_faults, "minor_faults", to.minor_faults, "input_blocks", to.input_blocks,
              "output_blocks", to.output_blocks, "read_bytes", to.read_bytes);
}
static bool take(const json& from, CallCosts& to) {
  return keys(from, "cost_per_call_ns", to.cost_per_call_ns, "source", to.source, "measured_realtime_ns",
              to.measured_realtime_ns);
}
static bool take(const json& from, SamplerState& to) {
  return keys(from, "problem", to.problem, "absent", to.absent, "rows_dropped", to.rows_dropped);
}
static bool take(const json& from, GpuSampler::NotSampled& to) {
  return keys(from, "gpu_id", to.gpu_id, "what", to.what);
}
static bool take(const json& from, GpuSampler& to) {
  return take(from, static_cast<SamplerState&>(to)) &&
         keys(from, "looks", to.samples, "late_looks", to.late_samples, "look_ns", to.sample_ns) &&
         keys(from, "samples", to.samples, "late_samples", to.late_samples, "sample_ns", to.sample_ns, "not_sampled",
              to.not_sampled);
}
static bool take(const json& from, MachineSampler::NotSampled& to) {
  return keys(from, "sample", to.sample, "text", to.text);
}
static bool take(const json& from, MachineSampler& to) {
  return take(from, static_cast<SamplerState&>(to)) && keys(from, "looks", to.samples, "late_looks", to.late_samples) &&
         keys(from, "samples", to.samples, "left_out", to.left_out, "process_left_out", to.process_left_out,
              "late_samples", to.late_samples, "not_sampled", to.not_sampled, "remarks", to.remarks);
}
static bool take(const json& from, PythonSampler::Problem& to) {
  return keys(from, "text", to.text, "processes", to.processes);
}
static bool take(const json& from, PythonSampler& to) {
  to.is_reported = take(from, static_cast<SamplerState&>(to)) &&
                   keys(from, "looks", to.rounds, "looks_left_out", to.rounds_left_out, "by_name", to.by_name, "rounds",
                        to.rounds, "rounds_left_out", to.rounds_left_out, "problems", to.problems);
  return to.is_reported;
}
static bool take(const json& from, Placement::Rule& to) {
  return keys(from, "text", to.text, "folder", to.folder, "policy", to.policy, "nodes", to.nodes, "shares", to.shares,
              "mmap", to.mmap, "strict", to.strict, "huge", to.huge);
}
static bool take(const json& from, Placement::Counts& to) {
  return keys(from, "matches", to.matches, "bytes", to.bytes, "fallbacks", to.fallbacks, "fallback_bytes",
              to.fallback_bytes, "live_bytes", to.live_bytes, "peak_bytes", to.peak_bytes);
}
static bool take(const json& from, Placement::Pages& to) {
  return keys(from, "pid", to.pid, "file", to.file, "rule", to.rule, "node", to.node, "looks", to.samples, "samples",
              to.samples, "sampled", to.sampled, "bytes", to.bytes, "resident_bytes", to.resident_bytes);
}
static bool take(const json& from, Placement::Unsampled& to) { return keys(from, "rule", to.rule, "why", to.why); }
static bool take(const json& from, Placement::Process& to) {
  return keys(from, "pid", to.pid, "window", to.window, "window_bytes", to.window_bytes, "rules", to.rules, "pages",
              to.pages, "unsampled", to.unsampled, "mappings_left_out", to.mappings_left_out);
}
static bool take(const json& from, Placement::Site& to) {
  return keys(from, "rule", to.rule, "site", to.site, "bytes", to.bytes);
}
static bool take(const json& from, Placement::Balancing& to) {
  return keys(from, "before", to.before, "after", to.after);
}
static bool take(const json& from, Placement::Machine& to) {
  return keys(from, "numa_pages_migrated", to.numa_pages_migrated, "oom_kill", to.oom_kill, "cgroup_oom_kill",
              to.cgroup_oom_kill, "cgroup_oom", to.cgroup_oom, "pgdemote_kswapd", to.pgdemote_kswapd, "pgdemote_direct",
              to.pgdemote_direct, "pgdemote_khugepaged", to.pgdemote_khugepaged, "pgpromote_success",
              to.pgpromote_success);
}
static bool take(const json& from, Placement& to) {
  return keys(from, "cpus", to.cpus, "policy", to.policy, "mem_node", to.mem_node, "weights", to.weights, "problem",
              to.problem, "policy_problem", to.policy_problem, "pages", to.pages, "rules", to.rules, "sites", to.sites,
              "processes", to.processes, "images", to.images, "without_memory", to.without_memory,
              "without_block_rules", to.without_block_rules, "not_counted", to.not_counted, "without_rules",
              to.without_rules, "processes_left_out", to.processes_left_out, "numa_balancing", to.numa_balancing,
              "counted", to.counted);
}
static bool take(const json& from, KernelSide::Signal& to) {
  return keys(from, "signal", to.signal, "way", to.mechanism, "mechanism", to.mechanism, "missing", to.missing, "note",
              to.note);
}
static bool take(const json& from, KernelSide::Program& to) {
  return keys(from, "event", to.event, "file_system", to.file_system, "missing", to.missing, "since_ns", to.since_ns);
}
static bool take(const json& from, KernelSide::Skipped& to) {
  return keys(from, "program", to.program, "times", to.times);
}
static bool take(const json& from, KernelSide::Library::Process& to) {
  return keys(from, "pid", to.pid, "functions", to.functions, "path", to.path, "missing", to.missing, "was_there",
              to.was_there, "was_probed", to.was_probed);
}
static bool take(const json& from, KernelSide::Library::DetachedProbe& to) {
  return keys(from, "function", to.function, "calls_per_second", to.calls_per_second, "at_ns", to.at_ns);
}
static bool take(const json& from, KernelSide::Library& to) {
  return keys(from, "libraries", to.libraries, "let_go", to.detached, "detached", to.detached, "put_off", to.put_off);
}
static bool take(const json& from, KernelSide::BlockDevice& to) {
  return keys(from, "device", to.device, "name", to.name, "kind", to.kind, "path_name", to.path_name, "model", to.model,
              "scheduler", to.scheduler, "rotational", to.rotational, "below", to.below);
}
static bool take(const json& from, KernelSide::BlockTotal& to) {
  return keys(from, "device", to.device, "op", to.op, "requests", to.requests, "bytes", to.bytes, "device_ns",
              to.device_ns, "errors", to.errors, "own_requests", to.own_requests, "own_bytes", to.own_bytes);
}
static bool take(const json& from, KernelSide::Spool& to) { return keys(from, "left_out", to.left_out); }
static bool take(const json& from, KernelSide::Throttled& to) {
  return keys(from, "asleep_ns", to.asleep_ns, "waits", to.waits);
}
static bool take(const json& from, KernelSide::Times& to) {
  return keys(from, "p50", to.p50, "p99", to.p99, "max", to.max);
}
static bool take(const json& from, KernelSide::Device& to) {
  return keys(from, "name", to.name, "requests", to.requests, "read_bytes", to.read_bytes, "write_bytes",
              to.write_bytes, "flushes", to.flushes, "queue_ns", to.queue_ns, "device_ns", to.device_ns);
}
static bool take(const json& from, KernelSide::Syscall& to) {
  return keys(from, "name", to.name, "calls", to.calls, "errors", to.errors, "time_ns", to.time_ns, "processes",
              to.processes, "p50_below_ns", to.p50_below_ns, "p99_below_ns", to.p99_below_ns);
}
static bool take(const json& from, KernelSide& to) {
  keys(from, "let_go_at_exec", to.unobserved_at_exec, "untold_32bit_calls",
       to.unseen_32bit_calls);  // as they were called
  return keys(from, "state", to.state, "reason", to.reason, "records", to.records, "unobserved_at_exec",
              to.unobserved_at_exec, "unseen_32bit_calls", to.unseen_32bit_calls, "spool", to.spool, "signals",
              to.signals, "programs", to.programs, "skipped", to.skipped, "devices", to.devices, "totals", to.totals,
              "cuda", to.cuda, "cufile", to.cufile, "torch", to.torch, "throttled", to.throttled, "own_devices",
              to.own_devices, "syscalls", to.syscalls);
}
static bool take(const json& from, MemoryAccess::Rung& to) {
  return keys(from, "rung", to.rung, "cost", to.cost, "blind_to", to.blind_to, "problem", to.problem, "lost", to.lost,
              "left_out", to.left_out, "on_ns", to.on_ns, "all_ns", to.all_ns, "worst_stall_ns", to.worst_stall_ns,
              "worst_read_ns", to.worst_read_ns);
}
static bool take(const json& from, MemoryAccess::Tried& to) {
  return keys(from, "rung", to.rung, "problem", to.problem, "asked", to.asked);
}
static bool take(const json& from, MemoryAccess::Site& to) {
  return keys(from, "site", to.site, "blocks", to.blocks, "bytes", to.bytes, "loads", to.loads, "stores", to.stores,
              "faults", to.faults, "byte_s", to.byte_s, "seen_byte_s", to.seen_byte_s, "hot_fraction", to.hot_fraction);
}
static bool take(const json& from, MemoryAccess::Found& to) {
  return keys(from, "rung", to.rung, "rows", to.rows, "joined_rows", to.joined_rows, "byte_s", to.byte_s, "seen_byte_s",
              to.seen_byte_s, "shared_byte_s", to.shared_byte_s, "largest", to.largest);
}
static bool take(const json& from, MemoryAccess& to) {
  return keys(from, "problem", to.problem, "rows_dropped", to.rows_dropped, "rungs", to.rungs, "tried", to.tried,
              "by_rung", to.by_rung);
}
static bool take(const json& from, GpuSteps::Device& to) {
  return keys(from, "gpu_id", to.gpu_id, "steps", to.steps, "time_ns", to.time_ns, "idle_ns", to.idle_ns, "idle_p50_ns",
              to.idle_p50_ns, "idle_p99_ns", to.idle_p99_ns, "idle_max_ns", to.idle_max_ns);
}
static bool take(const json& from, GpuSteps::Blamed& to) {
  return keys(from, "label", to.label, "path", to.path, "proc_id", to.proc_id, "time_ns", to.time_ns);
}
static bool take(const json& from, GpuSteps::Step& to) {
  return keys(from, "name", to.name, "number", to.number, "duration_ns", to.duration_ns, "idle_ns", to.idle_ns,
              "blamed", to.blamed);
}
static bool take(const json& from, GpuSteps& to) { return keys(from, "devices", to.devices, "worst", to.worst); }
static bool take(const json& from, RunCoverage& to) { return keys(from, "level", to.level); }

static void take_run(const json& from, Run& to) {
  keys(from, "command", to.command, "cwd", to.cwd, "session", to.session, "mlrun_version", to.mlrun_version, "state",
       to.state, "observed", to.observed, "mllog", to.mllog, "standard_files", to.standard_files, "arena", to.arena,
       "exit_status", to.exit_status, "wait_status", to.wait_status, "max_rss_bytes", to.max_rss_bytes, "start_ns",
       to.start_ns, "end_ns", to.end_ns, "wall_ns", to.wall_ns, "user_ns", to.user_ns, "sys_ns", to.sys_ns,
       "events_from_ns", to.events_from_ns, "recovered", to.recovered, "clock", to.clock, "host", to.host, "job",
       to.job, "options", to.options, "collector", to.collector, "use", to.use, "cost", to.cost, "gpu_sampler",
       to.gpu_sampler, "sampler", to.sampler, "machine_sampler", to.machine_sampler, "python_stacks", to.python_stacks,
       "placement", to.placement, "kernel_side", to.kernel_side, "access", to.access, "gpu_steps", to.gpu_steps,
       "totals", to.totals, "coverage", to.coverage);
  if (std::string text; to.command.empty() && keys(from, "command", text) && !text.empty()) to.command = {text};
  keys(util::json_at(from, "/spool"), "frames_left_out", to.frames_left_out);
  keys(util::json_at(from, "/watched"), "left_out", to.unwatched_processes);
  keys(util::json_at(from, "/gpu_work"), "folded_nodes", to.folded_nodes);
  to.is_merged = from.contains("merged");
}

int64_t Collector::failed(const std::string& how) const {
  const auto found = failures.find(how);
  return found == failures.end() ? 0 : found->second;
}

std::string KernelSide::attached_by(std::string_view signal) const {
  for (const Signal& entry : signals) {
    if (entry.signal == signal && !entry.mechanism.empty()) return entry.mechanism;
  }
  return {};
}

bool KernelSide::has_program(std::string_view event) const {
  return std::any_of(programs.begin(), programs.end(),
                     [&](const Program& program) { return program.event == event && !program.missing; });
}

bool KernelSide::lacks_program(std::string_view event) const {
  return std::any_of(programs.begin(), programs.end(),
                     [&](const Program& program) { return program.event == event && program.missing; });
}

std::string Run::command_text() const { return fmt::format("{}", fmt::join(command, " ")); }

Number Run::begin_ns() const { return start_ns ? start_ns : clock.start.monotonic_ns; }

Number Run::duration_ns() const {
  if (wall_ns || !begin_ns() || !end_ns) return wall_ns;
  return *end_ns - *begin_ns();
}

Number Run::total(const char* name) const {
  const auto found = totals.find(name);
  return found == totals.end() ? Number() : found->second;
}

bool Run::has_stream(std::string_view name) const {
  return options.streams && std::find(options.streams->begin(), options.streams->end(), name) != options.streams->end();
}

bool Run::asked_for(std::string_view name) const {
  return std::find(options.asked_streams.begin(), options.asked_streams.end(), name) != options.asked_streams.end();
}

std::string Run::recorded_by(std::string_view signal) const {
  return kernel_side.has_recorded() ? kernel_side.attached_by(signal) : std::string();
}

Run run_of(json document) {
  Run run;
  take_run(document, run);
  run.document = std::move(document);
  return run;
}

Result<Run> read_run(const std::string& trace_folder) {
  const std::string path = trace_folder + "/run.json";
  const auto text = util::read_file(path);
  if (!text) return tl::make_unexpected(text.error());
  json document = util::parse_json(*text);
  if (!document.is_object()) return util::damaged_trace(trace_folder, "run.json holds no JSON object");
  return run_of(std::move(document));
}

Status write_run(const json& document, const std::string& trace_folder) {
  return util::write_atomically(trace_folder + "/run.json", util::json_text(document, 2) + "\n", 0600);
}

}  // namespace mlrun::model
