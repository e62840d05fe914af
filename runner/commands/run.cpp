// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/bench/cost.h"
#include "runner/collect/descendant_watch.h"
#include "runner/collect/pace.h"
#include "runner/collect/recording.h"
#include "runner/collect/shared_word.h"
#include "runner/commands/gpu_side.h"
#include "runner/commands/hints.h"
#include "runner/commands/observe.h"
#include "runner/commands/placement_side.h"
#include "runner/commands/recording_options.h"
#include "runner/commands/session_facts.h"
#include "runner/events/session.h"
#include "runner/launch/child_process.h"
#include "runner/launch/command_state.h"
#include "runner/launch/environment.h"
#include "runner/launch/kernel_side.h"
#include "runner/launch/merge_process.h"
#include "runner/launch/program_file.h"
#include "runner/launch/signal_relay.h"
#include "runner/launch/start_gate.h"
#include "runner/launch/trace_name.h"
#include "runner/samplers/samplers.h"
#include "runner/session/installation.h"
#include "runner/session/new_trace_folder.h"
#include "runner/session/session_file.h"
#include "runner/util/clock.h"
#include "runner/util/log.h"
#include "runner/util/proc_files.h"
#include "runner/util/text.h"

namespace mlrun::commands {

namespace {

constexpr uint64_t kDescendantsNs = 2'000'000'000;  // waits this long for processes that outlive the command

using util::note, util::say;

// Nothing can be recorded: this process becomes the command, unless recording was required.
Result<int> run_untraced(const RunOptions& options, const launch::CommandState& state, const std::string& reason) {
  const bool required = options.preload == Wish::kRequire || options.kprobes == Wish::kRequire ||
                        options.cupti == Wish::kRequire || options.sample == Wish::kRequire ||
                        options.access.wish == Wish::kRequire;
  if (required) return fail("nothing can be recorded: " + reason);
  say(reason + "; running the command without recording");
  if (const int error = state.enter(); error != 0) return fail_errno("place the command", error);
  return tl::make_unexpected(launch::become(options.command));
}

// Descendants that outlive the command: recording threads, and processes that may start to record.
class Descendants {
 public:
  explicit Descendants(const collect::Recording& recording)
      : variable_(MLRUN_SESSION_VARIABLE "=" + recording.session_variable()) {}

  // Scans /proc, which takes a few milliseconds, ten times a second at most; once a second after a long wait.
  bool alive(const collect::Collector& collector, uint64_t waited_ns) {
    if (collector.live_threads() > 0) return true;
    if (waited_ns >= next_scan_ns_) {
      next_scan_ns_ = waited_ns + (waited_ns > kDescendantsNs ? 1'000'000'000 : 100'000'000);
      alive_ = util::environment_in_use(variable_);
    }
    return alive_;
  }

 private:
  std::string variable_;
  uint64_t next_scan_ns_ = 0;
  bool alive_ = false;
};

// Collects until the command and its descendants have ended, or the time to wait for descendants is over.
CommandEnd collect_until_end(const RunOptions& options, collect::Recording& recording, launch::ChildProcess& child,
                             launch::SignalRelay& relay, samplers::Samplers& samplers, PlacedMemory& placed,
                             collect::DescendantWatch& watch) {
  collect::Collector& collector = recording.collector();
  collect::Pace pace(recording.arena().control());
  Descendants descendants(recording);
  CommandEnd end;
  bool ended = false;
  for (;;) {
    pace.begin_pass();
    relay.take_own();
    if (!ended) {
      const auto may_reap = [&] {
        if (end.ended_ns == 0) end.ended_ns = util::monotonic_ns();
        return samplers.command_ends(static_cast<uint32_t>(child.pid()));
      };
      if (const auto child_end = child.poll(may_reap)) {
        ended = true;
        relay.command_ended();
        end.child = *child_end;
        watch.note_command_end(child_end->io);
      }
    }
    const uint32_t released = collector.pass();
    samplers.collect();
    watch.work(util::monotonic_ns());
    placed.follow(util::monotonic_ns(), watch);
    const uint64_t waited_ns = ended ? util::monotonic_ns() - end.ended_ns : 0;
    const bool enough = (waited_ns > kDescendantsNs && !options.wait_all) || launch::SignalRelay::asked_to_stop();
    if (ended && (enough || !descendants.alive(collector, waited_ns))) break;
    pace.sleep(released, collector.pool(), end.ended_ns != 0 && waited_ns <= kDescendantsNs);
  }
  return end;
}

void say_if_stopped_early(const collect::Spool& spool, bool has_limit_of_user) {
  if (!spool.full()) return;
  const std::string size = util::size_text(spool.bytes());
  const std::string limit = has_limit_of_user ? "--max-spool" : "half of what was free on the disk, or 64 GiB";
  const std::string why = spool.stop_error() == 0 ? "the spool reached its limit of " + size + " (" + limit + ")"
                                                  : "the disk took no more of the spool, at " + size + " (" +
                                                        std::strerror(spool.stop_error()) + ")";
  say("recording stopped before the end: " + why);
}

void note_recording(const collect::Recording& recording, const collect::Spool& spool) {
  note(fmt::format("buffer in {} ({}), spool of {}", recording.place().medium, recording.place().path,
                   util::size_text(spool.bytes())));
  if (!spool.direct()) note("the trace folder's file system has no O_DIRECT: the spool went through the page cache");
}

// False: no thread recorded. (Loading the library is itself recorded, so a program without recorded calls counts.)
bool say_if_empty(const collect::Collector& collector, int wait_status) {
  const bool any = collector.channels().channels > 0;
  if (!any && WIFSIGNALED(wait_status)) {
    say("nothing is recorded: the command was ended by " + launch::signal_text(WTERMSIG(wait_status)) +
        " before it had loaded the library");
  } else if (!any) {
    say("error: --preload recorded nothing: no process of the command has loaded the library (statically linked, "
        "32-bit, setuid, or started with a cleared environment?)");
  }
  return any;
}

// Makes the trace. Returns the command's status even if that fails: callers of mlrun would take a failure for the
// command's. Only a missing =require stream is a failure.
int finish_run(const RunOptions& options, const std::string& folder, collect::Recording& recording,
               const session::Installation& installation, int wait_status) {
  const int status = launch::shell_status(wait_status);
  note(fmt::format("the command has ended with status {}", status));
  note_recording(recording, recording.spool());
  say_if_stopped_early(recording.spool(), options.max_spool_bytes.has_value());
  if (options.defer_merge) {
    say(fmt::format("the trace is not made yet; make it with: mlrun recover {}", folder));
  } else if (launch::SignalRelay::asked_to_stop()) {
    say(fmt::format("stopped before the trace was made; make it with: mlrun recover {}", folder));
    return status;
  } else {
    const Status merged = launch::merge({installation.trace_program, folder, options.quiet, options.keep_raw});
    if (!merged) {
      say(merged.error().text);
      return status;
    }
  }
  const uint32_t gpu_processes = collect::load(recording.arena().control().gpu_processes);
  if (!say_if_no_gpu_work(options, gpu_processes) && status == 0) return 125;
  if (options.preload == Wish::kOff) return status;
  const bool any = say_if_empty(recording.collector(), wait_status);
  return status == 0 && !any && options.preload == Wish::kRequire ? 125 : status;
}

// The cost per call on this machine, for the estimate in the summary. With --defer-merge it is not measured, to end
// sooner.
void describe_cost(nlohmann::json& session, const RunOptions& options, const session::Installation& installation) {
  if (options.preload == Wish::kOff) return;
  const bench::Installed installed{installation.bench_program, installation.preload_library};
  const auto go_on = [&](int, uint64_t) { return !options.defer_merge && !launch::SignalRelay::asked_to_stop(); };
  nlohmann::json cost = bench::find_cost(installed, go_on);
  if (!cost.is_null()) session["cost"] = std::move(cost);
}

// Recording of GPU work needs the same library.
bool needs_library(const RunOptions& options) { return options.preload != Wish::kOff || options.cupti != Wish::kOff; }

// Without our library in the processes, the kernel side reports them, as with --pid.
std::string kernel_streams(const RunOptions& options) {
  std::string streams = options.kernel_streams.names();
  if (options.preload != Wish::kOff && options.files) streams += ",calls";
  if (!needs_library(options)) streams += ",command";
  return streams;
}

// nullptr: not requested, or unavailable; the reason is printed and the command runs.
Result<std::unique_ptr<launch::KernelSide>> start_kernel_side(const RunOptions& options,
                                                              const session::Installation& installation,
                                                              const std::string& folder, nlohmann::json& session) {
  if (options.kprobes == Wish::kOff) return nullptr;
  auto side =
      launch::KernelSide::start(installation.probes_program, folder, kernel_streams(options), options.kprobes_required);
  if (side && !needs_library(options)) session["observed"] = {{"scope", "command"}};
  if (side) session["kernel_side"] = (*side)->begun();
  if (side) return side;
  if (launch::SignalRelay::asked_to_stop()) return nullptr;  // the caller ends the start
  if (options.kprobes == Wish::kRequire) return fail("the kernel side cannot be recorded: " + side.error().text);
  if (options.kprobes != Wish::kAuto) say("the kernel side is not recorded: " + side.error().text);
  session["kernel_side"] = {{"state", "refused"}, {"reason", side.error().text}};
  return nullptr;
}

void observe_command(launch::KernelSide& side, pid_t pid) {
  if (const Status result = side.observe(pid); !result) say("the kernel side: " + result.error().text);
}

// Rungs may fail only now. session.json is then written again: it names them, and mlrun may be killed.
void attach(samplers::AccessStart& access, pid_t pid, session::SessionFile& session) {
  const nlohmann::json before = session.data["access"];
  access.attach(pid);
  access.describe(session.data);
  if (session.data["access"] == before) return;
  if (const Status written = session.write(); !written) say(written.error().text);
}

// Starts the command; the kernel side observes it before its first instruction.
Result<launch::ChildProcess> start_command(const RunOptions& options, const session::Installation& installation,
                                           const collect::Recording& recording, launch::SignalRelay& relay,
                                           const launch::CommandState& state, launch::KernelSide* kernel_side,
                                           samplers::AccessStart* access, session::SessionFile& session) {
  launch::StartGate gate;
  const std::string library = needs_library(options) ? installation.preload_library : std::string();
  return launch::ChildProcess::start(
      options.command,
      launch::traced_environment(environ, library, recording.session_variable(),
                                 launch::look_at_program(options.command.front()), gpu_library(options, installation),
                                 placement_library(options, installation)),
      relay,
      [&] {
        const int error = state.enter();
        gate.wait();
        return error;
      },
      [&](pid_t pid) {
        if (kernel_side != nullptr) observe_command(*kernel_side, pid);
        if (access != nullptr) attach(*access, pid, session);
        gate.open();
      });
}

// Everything that exists while the command runs.
struct Run {
  const RunOptions& options;
  const session::Installation& installation;
  const launch::CommandState& state;
  const Rules& rules;
  launch::SignalRelay& relay;
  std::string folder;
  collect::Recording& recording;
  session::SessionFile session;
  std::unique_ptr<samplers::AccessStart> access;
  std::unique_ptr<launch::KernelSide> kernel_side;
  uint64_t started_ns = 0;
};

Result<launch::ChildProcess> start_run(Run& run) {
  describe_start(run.session.data, run.options, run.recording, run.state.placement);
  describe_rules(run.session.data, run.rules);
  if (run.access) run.access->describe(run.session.data);
  auto kernel_side = start_kernel_side(run.options, run.installation, run.folder, run.session.data);
  if (!kernel_side) return tl::make_unexpected(kernel_side.error());
  run.kernel_side = *std::move(kernel_side);
  if (Status written = run.session.write(); !written) return tl::make_unexpected(written.error());
  run.recording.collector().start();
  run.started_ns = util::monotonic_ns();
  return start_command(run.options, run.installation, run.recording, run.relay, run.state, run.kernel_side.get(),
                       run.access.get(), run.session);
}

void take_back(Run& run) {
  run.kernel_side.reset();  // it has the kernel side's file open
  ::unlink((run.folder + "/" + MLRUN_KERNEL_FILE).c_str());
  run.recording.discard();
  run.session.remove();
}

// Whether processes that do not record are sampled, once they are found.
bool samples_descendants(const Run& run) {
  const std::vector<std::string>& words = run.options.sample_counters;
  const bool has_word =
      run.options.sample != Wish::kOff && std::find(words.begin(), words.end(), "process") != words.end();
  return has_word || run.access || !run.state.placement.mem_nodes.empty();
}

int collect_run(Run& run, launch::ChildProcess& child) {
  nlohmann::json& session = run.session.data;
  collect::Recording& recording = run.recording;
  collect::DescendantWatch watch(child.pid(), samples_descendants(run));
  samplers::Samplers samplers(run.options, run.state.placement.cpus.size(), recording, watch, std::move(run.access));
  const bool lists_blocks = run.options.preload != Wish::kOff && run.options.allocs && !run.options.summary_only;
  PlacedMemory placed(run.rules, !run.state.placement.mem_nodes.empty(), lists_blocks, recording);
  CommandEnd end = collect_until_end(run.options, recording, child, run.relay, samplers, placed, watch);
  end.started_ns = run.started_ns;
  describe_command_end(session, end);
  session["watched"] = watch.finish();
  samplers.finish(session);
  placed.finish();
  if (run.kernel_side) session["kernel_side"] = run.kernel_side->finish();
  const Status finished = recording.finish();
  describe_collection(session, recording.collector(), recording.spool(), recording.arena().control());
  placed.describe(session);
  session["state"] = finished ? "collected" : "incomplete";
  if (finished) describe_cost(session, run.options, run.installation);
  const Status written = run.session.write();
  const int status = launch::shell_status(end.child.wait_status);
  if (!finished || !written) {
    say(fmt::format("{}; everything is kept: make room, then: mlrun recover {}",
                    (finished ? written : finished).error().text, run.folder));
    return status;
  }
  return finish_run(run.options, run.folder, recording, run.installation, end.child.wait_status);
}

Result<int> run_traced(Run& run) {
  const launch::WakeWord wake(run.relay, &run.recording.arena().control().wake);
  auto child = Result<launch::ChildProcess>(fail(""));
  try {
    child = start_run(run);
  } catch (const std::exception& error) {
    child = fail(fmt::format("the recording cannot start: {}", error.what()));
  }
  if (!child) {
    take_back(run);
    return tl::make_unexpected(child.error());
  }
  try {
    return collect_run(run, *child);
  } catch (const std::exception& error) {
    run.recording.collector().stop();  // so that no thread waits for space
    say(fmt::format("recording stopped: {}; what was recorded is kept; make the trace with: mlrun recover {}",
                    error.what(), run.folder));
    return launch::shell_status(child->wait());
  }
}

// Exit code 125 is only for a missing recording.
Result<int> record(const RunOptions& options, const session::Installation& installation,
                   const launch::CommandState& state, const Rules& rules,
                   std::unique_ptr<samplers::AccessStart> access) try {
  launch::SignalRelay relay;
  const session::NewFolder made(options.output);
  const auto folder = session::make_trace_folder(options.output, launch::trace_name(options.command));
  if (!folder) return tl::make_unexpected(folder.error());
  util::begin_log(*folder);
  note("mlrun " MLRUN_VERSION " records to " + *folder);
  auto recording = collect::Recording::create(recording_options(options, *folder, rules.bytes));
  if (!recording) {
    util::take_log_back();
    made.take_back(*folder);
    return tl::make_unexpected(recording.error());
  }
  Run run{options,           installation, state, rules, relay, *folder, **recording, session::SessionFile(*folder),
          std::move(access), nullptr};
  auto status = run_traced(run);
  if (!status) {
    util::take_log_back();
    made.take_back(*folder);
  }
  return status;
} catch (const std::exception& error) {
  return fail(fmt::format("the recording cannot start: {}", error.what()));
}

}  // namespace

Result<int> run(const Arguments& arguments) {
  auto parsed = parse_run(arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  RunOptions options = *std::move(*parsed);
  if (options.verbose) util::set_verbose();
  if (auto meant = hint(arguments, options)) return tl::make_unexpected(*std::move(meant));
  const session::Installation installation = session::find_installation();
  const auto placement = launch::find_placement({options.cpus, options.cpu_node, options.mem_node, options.preferred,
                                                 options.interleave, options.weighted_interleave});
  if (!placement) return tl::make_unexpected(placement.error());
  const launch::CommandState state{{}, *placement};
  options.access.under_policy = !placement->mem_nodes.empty();
  if (options.observe.any()) return observe(options, installation);
  const auto rules = settle_placement(options, installation, state.limits.file_bytes());
  if (!rules) return tl::make_unexpected(rules.error());
  settle_gpu_side(options, installation);
  if (const Status works = check_samples(options); !works) return tl::make_unexpected(works.error());
  if (const Status works = check_cupti(options, installation); !works) {
    if (options.cupti == Wish::kRequire || options.places()) return tl::make_unexpected(works.error());
    return run_untraced(options, state, works.error().text);
  }
  if (const Status free = session::check_asked_folder(options.output); !free) return tl::make_unexpected(free.error());
  const Status usable =
      needs_library(options) ? session::check_preload_library(installation.preload_library) : Status();
  if (!usable && options.places()) return tl::make_unexpected(usable.error());
  if (!usable) return run_untraced(options, state, usable.error().text);
  auto access = samplers::AccessStart::settle(options.access);
  if (!access) return tl::make_unexpected(access.error());
  auto status = record(options, installation, state, *rules, *std::move(access));
  if (status || status.error().exit_code != 125 || options.places()) return status;
  return run_untraced(options, state, status.error().text);
}

}  // namespace mlrun::commands
