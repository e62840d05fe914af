// SPDX-License-Identifier: Apache-2.0
// The keys of the objects of run.json and session.json, once for both directions. `keys` is called with "key", member, "key", member, ... of an
// object, and keys.optional with a key that is left out where the value is missing; others are null then. keys.earlier: names of earlier commits,
// which are only read.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/model/run.h"

namespace mlrun::model {

// `Object` is `Type`, const or not.
template <class Object, class Type>
concept Is = std::same_as<std::remove_const_t<Object>, Type>;

void visit_keys(auto& keys, Is<ClockReading::Discipline> auto& of) {
  keys("is_synchronised", of.is_synchronised, "max_error_ns", of.max_error_ns);
}
void visit_keys(auto& keys, Is<ClockReading> auto& of) {
  keys("monotonic_ns", of.monotonic_ns, "realtime_ns", of.realtime_ns, "tsc", of.tsc, "width_ticks", of.width_ticks,
       "boottime_ns", of.boottime_ns, "discipline", of.discipline);
}
void visit_keys(auto& keys, Is<RunClock> auto& of) {
  keys("kind", of.kind, "start", of.start, "end", of.end, "error_ns", of.error_ns, "realtime_offset_start_ns",
       of.realtime_offset_start_ns, "realtime_offset_end_ns", of.realtime_offset_end_ns, "realtime_offset_by_time",
       of.realtime_offset_by_time);
}
void visit_keys(auto& keys, Is<RunHost> auto& of) {
  keys("name", of.name, "kernel", of.kernel, "boot_id", of.boot_id, "time_namespace", of.time_namespace,
       "network_namespace", of.network_namespace, "cores", of.cores);
}
void visit_keys(auto& keys, Is<RunJob::Source> auto& of) { keys("id", of.id, "rank", of.rank); }
void visit_keys(auto& keys, Is<RunJob> auto& of) {
  keys("id", of.id, "array_id", of.array_id, "array_task", of.array_task, "step", of.step, "nodes", of.nodes, "source",
       of.source);
}
void visit_keys(auto& keys, Is<RecordingOptions> auto& of) {
  keys("streams", of.streams, "asked_streams", of.asked_streams, "include", of.include, "exclude", of.exclude,
       "graph_nodes_per_s", of.graph_nodes_per_s, "fold_ns", of.fold_ns, "last_ns", of.last_ns, "stack_depth",
       of.stack_depth, "alloc_sample_bytes", of.alloc_sample_bytes, "alloc_min_bytes", of.alloc_min_bytes,
       "summary_only", of.summary_only, "lossless", of.lossless, "alloc_times", of.alloc_times, "keep_raw", of.keep_raw,
       "python_stacks_hz", of.python_stacks_hz, "whole_graphs", of.whole_graphs, "wait_all", of.wait_all,
       "max_spool_bytes", of.max_spool_bytes);
}
void visit_keys(auto& keys, Is<Arena> auto& of) { keys("path", of.path, "medium", of.medium, "bytes", of.bytes); }
void visit_keys(auto& keys, Is<OpenFile> auto& of) {
  keys("fd", of.fd, "device", of.device, "inode", of.inode, "path", of.path);
}
void visit_keys(auto& keys, Is<Observed> auto& of) { keys("scope", of.scope, "children_before", of.children_before); }
void visit_keys(auto& keys, Is<Collector> auto& of) {
  keys("medium", of.medium, "cpu_ns", of.cpu_ns, "channels", of.channels, "gpu_processes", of.gpu_processes, "added_up",
       of.added_up, "failures", of.failures, "without_channel", of.without_channel);
}
void visit_keys(auto& keys, Is<ResourceUse> auto& of) {
  keys("major_faults", of.major_faults, "minor_faults", of.minor_faults, "input_blocks", of.input_blocks,
       "output_blocks", of.output_blocks);
  keys.optional("read_bytes", of.read_bytes);
}
void visit_keys(auto& keys, Is<CallCosts> auto& of) {
  keys("cost_per_call_ns", of.cost_per_call_ns, "source", of.source, "measured_realtime_ns", of.measured_realtime_ns);
}
void visit_keys(auto& keys, Is<GpuSampler::NotSampled> auto& of) { keys("gpu_id", of.gpu_id, "what", of.what); }
void visit_keys(auto& keys, Is<GpuSampler> auto& of) {
  keys.earlier("looks", of.samples, "late_looks", of.late_samples, "look_ns", of.sample_ns);
  keys("problem", of.problem, "rows_dropped", of.rows_dropped, "samples", of.samples, "late_samples", of.late_samples,
       "sample_ns", of.sample_ns, "not_sampled", of.not_sampled, "gpus", of.gpus);
}
void visit_keys(auto& keys, Is<RoundsSampler> auto& of) {
  keys("problem", of.problem, "rows_dropped", of.rows_dropped, "cpu_ns", of.cpu_ns, "wall_ns", of.wall_ns, "share_max",
       of.share_max, "thread_rows", of.thread_rows, "machine_rows", of.machine_rows);
}
void visit_keys(auto& keys, Is<MachineSampler::NotSampled> auto& of) { keys("sample", of.sample, "text", of.text); }
void visit_keys(auto& keys, Is<MachineSampler> auto& of) {
  keys.earlier("looks", of.samples, "late_looks", of.late_samples);
  keys("problem", of.problem, "rows_dropped", of.rows_dropped, "samples", of.samples, "left_out", of.left_out,
       "process_left_out", of.process_left_out, "late_samples", of.late_samples, "not_sampled", of.not_sampled,
       "remarks", of.remarks, "absent", of.absent, "rows", of.rows, "cpu_ns", of.cpu_ns, "wall_ns", of.wall_ns,
       "share_max", of.share_max);
}
void visit_keys(auto& keys, Is<PythonSampler::Problem> auto& of) { keys("text", of.text, "processes", of.processes); }
void visit_keys(auto& keys, Is<PythonSampler> auto& of) {
  keys.earlier("looks", of.rounds, "looks_left_out", of.rounds_left_out);
  keys("problem", of.problem, "rows_dropped", of.rows_dropped, "by_name", of.by_name, "rounds", of.rounds,
       "rounds_left_out", of.rounds_left_out, "problems", of.problems, "samples", of.samples, "discarded",
       of.discarded);
}
void visit_keys(auto& keys, Is<Placement::Rule> auto& of) {
  keys("text", of.text, "folder", of.folder, "policy", of.policy, "nodes", of.nodes, "shares", of.shares, "mmap",
       of.mmap, "strict", of.strict, "huge", of.huge, "memkind", of.memkind, "min_bytes", of.min_bytes, "max_bytes",
       of.max_bytes);
}
void visit_keys(auto& keys, Is<Placement::Counts> auto& of) {
  keys("matches", of.matches, "bytes", of.bytes, "fallbacks", of.fallbacks, "fallback_bytes", of.fallback_bytes,
       "live_bytes", of.live_bytes, "peak_bytes", of.peak_bytes);
}
void visit_keys(auto& keys, Is<Placement::Pages> auto& of) {
  keys.earlier("looks", of.samples);
  keys("pid", of.pid, "file", of.file, "rule", of.rule, "node", of.node, "samples", of.samples, "sampled", of.sampled,
       "bytes", of.bytes, "resident_bytes", of.resident_bytes);
}
void visit_keys(auto& keys, Is<Placement::Unsampled> auto& of) { keys("rule", of.rule, "why", of.why); }
void visit_keys(auto& keys, Is<Placement::Process> auto& of) {
  keys("pid", of.pid, "window", of.window, "window_bytes", of.window_bytes, "rules", of.rules, "pages", of.pages,
       "unsampled", of.unsampled, "mappings_left_out", of.mappings_left_out);
}
void visit_keys(auto& keys, Is<Placement::Site> auto& of) { keys("rule", of.rule, "site", of.site, "bytes", of.bytes); }
void visit_keys(auto& keys, Is<Placement::Balancing> auto& of) { keys("before", of.before, "after", of.after); }
void visit_keys(auto& keys, Is<Placement::Machine> auto& of) {
  keys("numa_pages_migrated", of.numa_pages_migrated, "oom_kill", of.oom_kill, "cgroup_oom_kill", of.cgroup_oom_kill,
       "cgroup_oom", of.cgroup_oom, "pgdemote_kswapd", of.pgdemote_kswapd, "pgdemote_direct", of.pgdemote_direct,
       "pgdemote_khugepaged", of.pgdemote_khugepaged, "pgpromote_success", of.pgpromote_success);
}
void visit_keys(auto& keys, Is<Placement> auto& of) {
  keys("cpus", of.cpus, "policy", of.policy, "mem_node", of.mem_node, "weights", of.weights, "problem", of.problem,
       "policy_problem", of.policy_problem, "pages", of.pages, "rules", of.rules, "sites", of.sites, "processes",
       of.processes, "images", of.images, "without_memory", of.without_memory, "without_block_rules",
       of.without_block_rules, "not_counted", of.not_counted, "without_rules", of.without_rules, "processes_left_out",
       of.processes_left_out, "numa_balancing", of.numa_balancing, "counted", of.counted);
}
void visit_keys(auto& keys, Is<KernelSide::Signal> auto& of) {
  keys.earlier("way", of.mechanism);
  keys("signal", of.signal, "mechanism", of.mechanism, "missing", of.missing, "note", of.note);
}
void visit_keys(auto& keys, Is<KernelSide::Program> auto& of) {
  keys("event", of.event, "file_system", of.file_system, "missing", of.missing, "since_ns", of.since_ns);
}
void visit_keys(auto& keys, Is<KernelSide::Skipped> auto& of) { keys("program", of.program, "times", of.times); }
void visit_keys(auto& keys, Is<KernelSide::Library::Process> auto& of) {
  keys("pid", of.pid, "functions", of.functions, "path", of.path, "missing", of.missing, "was_there", of.was_there,
       "was_probed", of.was_probed);
}
void visit_keys(auto& keys, Is<KernelSide::Library::DetachedProbe> auto& of) {
  keys("function", of.function, "calls_per_second", of.calls_per_second, "at_ns", of.at_ns);
}
void visit_keys(auto& keys, Is<KernelSide::Library> auto& of) {
  keys.earlier("let_go", of.detached);
  keys("libraries", of.libraries, "detached", of.detached, "put_off", of.put_off);
}
void visit_keys(auto& keys, Is<KernelSide::BlockDevice> auto& of) {
  keys("device", of.device, "name", of.name, "kind", of.kind, "path_name", of.path_name, "model", of.model, "scheduler",
       of.scheduler, "rotational", of.rotational, "below", of.below);
}
void visit_keys(auto& keys, Is<KernelSide::BlockTotal> auto& of) {
  keys("device", of.device, "op", of.op, "requests", of.requests, "bytes", of.bytes, "device_ns", of.device_ns,
       "errors", of.errors, "own_requests", of.own_requests, "own_bytes", of.own_bytes);
}
void visit_keys(auto& keys, Is<KernelSide::Spool> auto& of) { keys("left_out", of.left_out); }
void visit_keys(auto& keys, Is<KernelSide::Throttled> auto& of) { keys("asleep_ns", of.asleep_ns, "waits", of.waits); }
void visit_keys(auto& keys, Is<KernelSide::Times> auto& of) {
  keys("p50", of.p50, "p99", of.p99, "max", of.max, "p95", of.p95);
}
void visit_keys(auto& keys, Is<KernelSide::Device> auto& of) {
  keys("name", of.name, "requests", of.requests, "read_bytes", of.read_bytes, "write_bytes", of.write_bytes, "flushes",
       of.flushes, "queue_ns", of.queue_ns, "device_ns", of.device_ns, "dev", of.dev, "reads", of.reads, "writes",
       of.writes, "others", of.others, "errors", of.errors);
}
void visit_keys(auto& keys, Is<KernelSide::Syscall> auto& of) {
  keys("name", of.name, "calls", of.calls, "errors", of.errors, "time_ns", of.time_ns, "processes", of.processes,
       "p50_below_ns", of.p50_below_ns, "p99_below_ns", of.p99_below_ns);
}
void visit_keys(auto& keys, Is<KernelSide> auto& of) {
  keys.earlier("let_go_at_exec", of.unobserved_at_exec, "untold_32bit_calls", of.unseen_32bit_calls);
  keys("state", of.state, "reason", of.reason, "records", of.records, "unobserved_at_exec", of.unobserved_at_exec,
       "unseen_32bit_calls", of.unseen_32bit_calls, "spool", of.spool, "signals", of.signals, "programs", of.programs,
       "skipped", of.skipped, "devices", of.devices, "totals", of.totals, "cuda", of.cuda, "cufile", of.cufile, "torch",
       of.torch, "throttled", of.throttled, "own_devices", of.own_devices, "syscalls", of.syscalls);
}
void visit_keys(auto& keys, Is<MemoryAccess::Rung> auto& of) {
  keys("rung", of.rung, "cost", of.cost, "blind_to", of.blind_to, "problem", of.problem, "lost", of.lost, "left_out",
       of.left_out, "on_ns", of.on_ns, "all_ns", of.all_ns, "worst_stall_ns", of.worst_stall_ns, "worst_read_ns",
       of.worst_read_ns, "samples", of.samples, "sample_ns", of.sample_ns, "page_clear_ps", of.page_clear_ps,
       "page_touch_ps", of.page_touch_ps, "predicted_stall_ns", of.predicted_stall_ns);
}
void visit_keys(auto& keys, Is<MemoryAccess::Tried> auto& of) {
  keys("rung", of.rung, "problem", of.problem, "asked", of.asked, "remark", of.remark);
}
void visit_keys(auto& keys, Is<MemoryAccess::Site> auto& of) {
  keys("site", of.site, "blocks", of.blocks, "bytes", of.bytes, "loads", of.loads, "stores", of.stores, "faults",
       of.faults, "byte_s", of.byte_s, "seen_byte_s", of.seen_byte_s, "processes", of.processes, "samples", of.samples);
  keys.optional("hot_fraction", of.hot_fraction);
}
void visit_keys(auto& keys, Is<MemoryAccess::Found> auto& of) {
  keys("rung", of.rung, "rows", of.rows, "joined_rows", of.joined_rows, "byte_s", of.byte_s, "seen_byte_s",
       of.seen_byte_s, "shared_byte_s", of.shared_byte_s, "largest", of.largest, "touched_byte_s", of.touched_byte_s,
       "sites", of.sites);
}
void visit_keys(auto& keys, Is<MemoryAccess> auto& of) {
  keys("problem", of.problem, "rows_dropped", of.rows_dropped, "rungs", of.rungs, "tried", of.tried, "by_rung",
       of.by_rung);
}
void visit_keys(auto& keys, Is<GpuSteps::Device> auto& of) {
  keys("gpu_id", of.gpu_id, "steps", of.steps, "time_ns", of.time_ns, "idle_ns", of.idle_ns, "idle_p50_ns",
       of.idle_p50_ns, "idle_p99_ns", of.idle_p99_ns, "idle_max_ns", of.idle_max_ns);
}
void visit_keys(auto& keys, Is<GpuSteps::Blamed> auto& of) {
  keys("label", of.label, "path", of.path, "proc_id", of.proc_id, "time_ns", of.time_ns, "thread_id", of.thread_id);
}
void visit_keys(auto& keys, Is<GpuSteps::Step> auto& of) {
  keys("name", of.name, "number", of.number, "duration_ns", of.duration_ns, "idle_ns", of.idle_ns, "blamed", of.blamed,
       "gpu_id", of.gpu_id, "start_ns", of.start_ns, "proc_id", of.proc_id, "idle", of.idle);
}
void visit_keys(auto& keys, Is<GpuSteps> auto& of) {
  keys("devices", of.devices, "worst", of.worst, "left_out", of.left_out);
}
void visit_keys(auto& keys, Is<RunCoverage> auto& of) {
  keys("level", of.level, "subject", of.subject, "detail", of.detail, "rows", of.rows);
}
void visit_keys(auto& keys, Is<Run> auto& of) {
  keys("command", of.command, "cwd", of.cwd, "session", of.session, "mlrun_version", of.mlrun_version, "state",
       of.state, "observed", of.observed, "mllog", of.mllog, "standard_files", of.standard_files, "arena", of.arena,
       "exit_status", of.exit_status, "wait_status", of.wait_status, "max_rss_bytes", of.max_rss_bytes, "start_ns",
       of.start_ns, "end_ns", of.end_ns, "wall_ns", of.wall_ns, "user_ns", of.user_ns, "sys_ns", of.sys_ns,
       "events_from_ns", of.events_from_ns, "recovered", of.recovered, "clock", of.clock, "host", of.host, "job",
       of.job, "options", of.options, "collector", of.collector, "use", of.use, "cost", of.cost, "gpu_sampler",
       of.gpu_sampler, "sampler", of.sampler, "machine_sampler", of.machine_sampler, "python_stacks", of.python_stacks,
       "placement", of.placement, "kernel_side", of.kernel_side, "access", of.access, "gpu_steps", of.gpu_steps,
       "totals", of.totals, "coverage", of.coverage);
}

struct KeyWriter {
  nlohmann::json to = nlohmann::json::object();

  template <class Value, class... Rest>
  void operator()(const char* key, const Value& from, const Rest&... rest) {
    to[key] = written(from);
    if constexpr (sizeof...(rest) != 0) (*this)(rest...);
  }
  void optional(const char* key, const auto& from) {
    if (from) (*this)(key, *from);
  }
  void earlier(const auto&... /*keys*/) {}

  template <class Value>
  static nlohmann::json written(const std::optional<Value>& from) {
    return from ? written(*from) : nlohmann::json();
  }
  template <class Value>
  static nlohmann::json written(const std::vector<Value>& from) {
    nlohmann::json list = nlohmann::json::array();
    for (const Value& entry : from) list.push_back(written(entry));
    return list;
  }
  template <class Value>
  static nlohmann::json written(const Value& from) {
    if constexpr (requires(KeyWriter keys) { visit_keys(keys, from); }) {
      KeyWriter keys;
      visit_keys(keys, from);
      return std::move(keys.to);
    } else {
      return from;
    }
  }
};

// An object of session.json or run.json, or a list of such objects.
template <class Object>
nlohmann::json json_of(const Object& object) {
  return KeyWriter::written(object);
}

}  // namespace mlrun::model
