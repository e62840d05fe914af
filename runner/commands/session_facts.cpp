// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/session_facts.h"

#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "runner/collect/arena_place.h"
#include "runner/collect/clock_anchor.h"
#include "runner/collect/recovery.h"
#include "runner/collect/shared_word.h"
#include "runner/events/session.h"
#include "runner/launch/environment.h"
#include "runner/model/run_keys.h"
#include "runner/session/host_facts.h"
#include "runner/session/job_facts.h"
#include "runner/session/source_version.h"
#include "runner/util/clock.h"
#include "runner/util/drop_counts.h"
#include "runner/util/id_list.h"
#include "runner/util/secrets.h"
#include "runner/util/text.h"
#include "runner/util/time_units.h"

namespace mlrun::commands {

namespace {

using nlohmann::json;

constexpr std::array kFailureNames = {"no_channel", "no_room",    "abi",       "no_clock",   "no_robust",
                                      "fd_range",   "samples",    "no_stacks", "mark_names", "walks",
                                      "streams",    "bound_deep", "by_handle"};
static_assert(kFailureNames.size() == MLRUN_FAIL_KINDS, "each reason of enum mlrun_failure has a name here");

model::Texts texts(const std::vector<std::string>& values) {
  model::Texts escaped;
  for (const std::string& value : values) escaped.push_back(util::escaped_utf8(value));
  return escaped;
}

// Descriptors that the command inherits: programs may reopen them under names that mean another file in each process.
std::vector<model::OpenFile> standard_files() {
  std::vector<model::OpenFile> list;
  for (int fd = 0; fd <= 2; ++fd) {
    struct stat status {};
    std::error_code failed;
    const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), failed);
    if (failed || ::fstat(fd, &status) != 0) continue;
    list.push_back({fd, static_cast<int64_t>(status.st_dev), static_cast<int64_t>(status.st_ino),
                    util::escaped_utf8(path.string())});
  }
  return list;
}

// What the kernel knows of NTP and PTP, whichever program steers its clock.
json clock_discipline() {
  timex clock{};
  const int state = ::adjtimex(&clock);
  if (state == -1) return nullptr;
  constexpr double kUnitsPerPpm = 65536;  // of timex.freq
  return {{"is_synchronised", state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0},
          {"max_error_ns", clock.maxerror * util::kNsPerUs},
          {"estimated_error_ns", clock.esterror * util::kNsPerUs},
          {"frequency_ppm", static_cast<double>(clock.freq) / kUnitsPerPpm}};
}

json clock_json() {
  const mlrun_frame_anchor anchor = collect::read_clocks();
  return {{"tsc", anchor.tsc},
          {"width_ticks", anchor.width_ticks},
          {"monotonic_ns", anchor.monotonic_ns},
          {"realtime_ns", anchor.realtime_ns},
          {"boottime_ns", anchor.boottime_ns},
          {"discipline", clock_discipline()}};
}

uint64_t time_ns(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_usec) * 1000u;
}

// The requested streams, and those named by an option: if one of these is unavailable, the summary reports it.
struct Streams {
  model::Texts wanted, asked;

  void add(Wish wish, bool is_chosen, const char* name) {
    if (wish == Wish::kOff || !is_chosen) return;
    wanted.emplace_back(name);
    if (wish != Wish::kAuto) asked.emplace_back(name);
  }
};

Streams streams_of(const RunOptions& options) {
  Streams streams;
  streams.add(options.preload, options.files, "files");
  streams.add(options.preload, options.allocs, "allocs");
  streams.add(options.preload, options.marks, "marks");
  streams.add(options.cupti_was_auto && options.cupti != Wish::kOff ? Wish::kAuto : options.cupti, true, "gpu");
  streams.add(options.sample, options.sample_gpu, "gpu_samples");
  streams.add(options.sample, options.sample_threads, "thread_samples");
  streams.add(options.sample, options.sample_machine, "machine_samples");
  for (const std::string& counters : options.sample_counters)
    streams.add(options.sample, true, (counters + "_samples").c_str());
  streams.add(options.python_stacks, true, "python_stacks");
  streams.add(options.access.wish, true, "access");
  streams.add(options.kprobes, true, "block");
  util::KernelStreams::visit(options.kernel_streams,
                             [&](const char* name, bool is_on) { streams.add(options.kprobes, is_on, name); });
  return streams;
}

model::RecordingOptions recorded_options(const RunOptions& options, const collect::Recording& recording) {
  Streams streams = streams_of(options);
  model::RecordingOptions recorded;
  recorded.streams = std::move(streams.wanted);
  recorded.asked_streams = std::move(streams.asked);
  recorded.whole_graphs = options.cupti != Wish::kOff && options.whole_graphs;
  recorded.graph_nodes_per_s = options.graph_nodes_per_s.value_or(kGraphNodesPerS);
  recorded.alloc_min_bytes = options.alloc_min_bytes;
  recorded.stack_depth = options.stack_depth;
  recorded.python_stacks_hz = options.python_stacks == Wish::kOff ? 0 : options.python_stacks_hz;
  recorded.lossless = options.lossless;
  recorded.max_spool_bytes = recording.max_spool_bytes();
  recorded.wait_all = options.wait_all;
  recorded.keep_raw = options.keep_raw;
  recorded.include = texts(options.path_rules.include);
  recorded.exclude = texts(options.path_rules.exclude);
  recorded.last_ns = options.last_ns;
  recorded.fold_ns = options.fold_ns;
  recorded.summary_only = options.summary_only;
  recorded.alloc_sample_bytes = options.alloc_sample_bytes;
  recorded.alloc_times = options.alloc_times;
  return recorded;
}

}  // namespace

std::string arena_path(const std::string& folder, const model::Run& run) {
  return run.arena.medium == "file" ? folder + "/" + collect::kArenaFile : run.arena.path;
}

void describe_start(json& session, const RunOptions& options, collect::Recording& recording,
                    const launch::Placement& placement) {
  std::error_code ignored;
  const util::ClockChoice clock = util::choose_clock();
  session["session"] = collect::session_text(recording.arena().session());
  session["mlrun_version"] = MLRUN_VERSION;
  session["command"] = texts(util::masked_arguments(options.command));
  session["cwd"] = util::escaped_utf8(std::filesystem::current_path(ignored).string());
  session["source"] = session::source_version(std::filesystem::current_path(ignored).string());
  session["environment"] = launch::shown_environment(environ, options.kept_environment);
  session["host"] = session::host_facts();
  session["job"] = session::job_facts();
  session["options"] = model::json_of(recorded_options(options, recording));
  if (placement.any()) {
    session["placement"] = {{"cpus", util::id_list_text(placement.cpus)},
                            {"cpu_node", options.cpu_node},
                            {"mem_node", util::id_list_text(placement.mem_nodes)},
                            {"policy", placement.mem_nodes.empty() ? "" : launch::policy_name(placement.policy)}};
  }
  if (placement.policy == launch::MemoryPolicy::kWeightedInterleave) {
    session["placement"]["weights"] = launch::interleave_weights();
  }
  session["mllog"] = texts(options.mllog);
  session["standard_files"] = model::json_of(standard_files());
  session["arena"] = model::json_of(model::Arena{recording.place().path, recording.place().medium,
                                                 static_cast<int64_t>(recording.arena().layout().bytes)});
  session["clock"] = {
      {"kind", clock.kind == MLRUN_CLOCK_TSC ? "tsc" : "monotonic"}, {"reason", clock.reason}, {"start", clock_json()}};
}

void describe_command_end(json& session, const CommandEnd& end) {
  session["start_ns"] = end.started_ns;
  session["end_ns"] = end.ended_ns;
  session["wall_ns"] = end.ended_ns - end.started_ns;
  session["wait_status"] = end.child.wait_status;
  session["exit_status"] = launch::shell_status(end.child.wait_status);
  session["signal"] = WIFSIGNALED(end.child.wait_status) ? WTERMSIG(end.child.wait_status) : 0;
  session["user_ns"] = time_ns(end.child.usage.ru_utime);
  session["sys_ns"] = time_ns(end.child.usage.ru_stime);
  session["max_rss_bytes"] = uint64_t(end.child.usage.ru_maxrss) * 1024;
  model::ResourceUse use{
      end.child.usage.ru_majflt, end.child.usage.ru_minflt, end.child.usage.ru_inblock, end.child.usage.ru_oublock, {}};
  if (end.child.io) use.read_bytes = end.child.io->read_bytes;
  session["use"] = model::json_of(use);
}

void describe_collection(json& session, const collect::Collector& collector, const collect::Spool& spool,
                         const mlrun_control& control) {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  json failures = json::object();
  for (size_t i = 0; i < kFailureNames.size(); i++) failures[kFailureNames[i]] = collect::load(control.failures[i]);
  json without_channel = json::object();
  for (size_t i = 0; i < MLRUN_DROPPED_KINDS; i++) {
    without_channel[util::name_of(static_cast<mlrun_dropped>(i))] = collect::load(control.without_channel[i]);
  }
  const collect::DrainStatistics& drained = collector.drained();
  session["clock"]["end"] = clock_json();
  session["collector"] = {{"medium", session["arena"].value("medium", "")},
                          {"user_ns", time_ns(own.ru_utime)},
                          {"sys_ns", time_ns(own.ru_stime)},
                          {"cpu_ns", time_ns(own.ru_utime) + time_ns(own.ru_stime)},
                          {"max_rss_bytes", uint64_t(own.ru_maxrss) * 1024},
                          {"passes", collector.statistics().passes},
                          {"records", drained.records},
                          {"calls", drained.calls},
                          {"allocs", drained.allocs},
                          {"counted", collector.channels().counted},
                          {"drops", collector.channels().drops},
                          {"channels", collector.channels().channels},
                          {"cut_off_threads", collector.statistics().cut_off_threads},
                          {"peak_segments", collector.statistics().peak_segments},
                          {"holes", drained.holes},
                          {"hole_bytes", drained.hole_bytes},
                          {"corrupt_segments", drained.corrupt_segments},
                          {"added_up", collect::load(control.added_up)},
                          {"gpu_processes", collect::load(control.gpu_processes)},
                          {"failures", std::move(failures)},
                          {"without_channel", std::move(without_channel)}};
  session["spool"] = {{"file", MLRUN_SPOOL_FILE}, {"bytes", spool.bytes()},
                      {"frames", spool.frames()}, {"frames_left_out", spool.left_out()},
                      {"full", spool.full()},     {"direct", spool.direct()}};
  if (const collect::SpoolWindow* window = spool.window()) {
    session["spool"]["freed_bytes"] = window->freed_bytes();
    session["spool"]["freed_records"] = window->freed_records();
    session["spool"]["kept_bytes"] = window->kept_bytes();
  }
}

}  // namespace mlrun::commands
