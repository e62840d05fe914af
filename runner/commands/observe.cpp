// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/observe.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/collect/pace.h"
#include "runner/collect/recording.h"
#include "runner/commands/session_facts.h"
#include "runner/events/session.h"
#include "runner/launch/kernel_side.h"
#include "runner/launch/merge_process.h"
#include "runner/launch/observed.h"
#include "runner/launch/signal_relay.h"
#include "runner/monitor/cuda_live.h"
#include "runner/session/new_trace_folder.h"
#include "runner/session/session_file.h"
#include "runner/util/clock.h"
#include "runner/util/log.h"
#include "runner/util/time_units.h"

namespace mlrun::commands {

namespace {

constexpr uint64_t kBufferBytes = 4 << 20;  // minimal: no process records through it

using util::say;

Result<launch::Observed> find_observed(const ObserveOptions& options) {
  if (!options.pids.empty()) return launch::find_processes(options.pids);
  if (!options.cgroup.empty()) return launch::find_cgroup(options.cgroup);
  return launch::whole_system();
}

// Stream names of mlrun-probes.
std::string kernel_streams_of(const RunOptions& options) {
  std::string streams = options.kernel_streams.names();
  if (options.kernel_streams.cuda && options.stack_depth != 0) streams += ",stacks";
  if (options.observe.system) return streams + ",system";
  return streams + (options.observe.cgroup.empty() ? ",observe" : ",cgroup");
}

// Reports and leaves out processes that have ended meanwhile. Puts the current children of each into `observed`.
Status observe_processes(launch::KernelSide& side, launch::Observed& observed) {
  size_t number = 0;
  for (const launch::ObservedProcess& process : observed.processes) {
    launch::note_children(observed, process.pid);
    if (Status result = side.observe_process(process.pidfd.get()); result) {
      ++number;
    } else if (!launch::has_ended(process)) {
      return fail(fmt::format("process {}: {}", process.pid, result.error().text));
    } else {
      say(fmt::format("process {} has ended, it is not observed", process.pid));
    }
  }
  return number != 0 ? Status() : fail("all processes of --pid have ended");
}

Status observe_targets(launch::KernelSide& side, launch::Observed& observed) {
  if (!observed.processes.empty()) return observe_processes(side, observed);
  return observed.cgroup.valid() ? side.observe_cgroup(observed.cgroup.get()) : side.observe_system();
}

// A recording without streams gives the trace the usual clocks and session, so it can be recovered.
collect::RecordingOptions observing_options(const std::string& folder) {
  collect::RecordingOptions result;
  result.trace_folder = folder;
  result.buffer_bytes = kBufferBytes;
  result.streams = 0;
  return result;
}

class Observation {
 public:
  Observation(const RunOptions& options, launch::Observed observed, std::string folder, collect::Recording& recording,
              launch::SignalRelay& relay)
      : options_(options),
        relay_(relay),
        observed_(std::move(observed)),
        folder_(std::move(folder)),
        recording_(recording),
        session_(folder_) {}

  Result<int> run(const session::Installation& installation) {
    const launch::WakeWord wake(relay_, &recording_.arena().control().wake);
    auto side = start(installation);
    if (launch::SignalRelay::asked_to_stop()) side = tl::make_unexpected(relay_.stop_error());
    if (!side) {
      side_.reset();  // it has the kernel side's file open
      ::unlink((folder_ + "/" + MLRUN_KERNEL_FILE).c_str());
      recording_.discard();
      session_.remove();
      return tl::make_unexpected(side.error());
    }
    recording_.collector().start();
    if (!options_.quiet) say("observing " + observed_.text + until_text());
    wait();
    relay_.forget_stop();
    return finish(installation);
  }

 private:
  Status start(const session::Installation& installation) {
    describe_start(session_.data, options_, recording_, {});
    session_.data["command"] = nlohmann::json::array({observed_.text});
    auto side = launch::KernelSide::start(installation.probes_program, folder_, kernel_streams_of(options_),
                                          options_.kprobes_required);
    if (!side) return fail("the kernel side cannot be recorded: " + side.error().text);
    side_ = *std::move(side);
    session_.data["kernel_side"] = side_->begun();
    started_ns_ = util::monotonic_ns();
    session_.data["start_ns"] = started_ns_;
    const Status observes = observe_targets(*side_, observed_);
    session_.data["observed"] = observed_.facts;
    const Status written = session_.write();
    return observes ? written : observes;
  }

  [[nodiscard]] std::string until_text() const {
    if (options_.observe.duration_ns != 0) {
      return fmt::format(" for {} s, or until Ctrl-C", util::in_seconds(options_.observe.duration_ns));
    }
    return observed_.processes.empty() ? " until Ctrl-C" : " until Ctrl-C, or its end";
  }

  void wait() {
    collect::Pace pace(recording_.arena().control());
    std::optional<monitor::CudaLive> live;
    if (options_.observe.live_ns != 0) {
      live.emplace(folder_ + "/" + MLRUN_KERNEL_FILE, options_.observe.live_ns, util::monotonic_ns());
    }
    while (!launch::SignalRelay::asked_to_stop() && !side_->has_ended()) {
      const uint64_t duration_ns = options_.observe.duration_ns;
      if (duration_ns != 0 && util::monotonic_ns() - started_ns_ >= duration_ns) return;
      pace.begin_pass();
      if (live) live->pass(util::monotonic_ns());
      const uint32_t released = recording_.collector().pass();
      pace.sleep(released, recording_.collector().pool(), false);
    }
  }

  Result<int> finish(const session::Installation& installation) {
    const uint64_t ended_ns = util::monotonic_ns();
    session_.data["end_ns"] = ended_ns;
    session_.data["wall_ns"] = ended_ns - started_ns_;
    session_.data["kernel_side"] = side_->finish();
    const bool whole = session_.data["kernel_side"]["state"] == "recorded";
    if (!whole) say("the kernel side: " + session_.data["kernel_side"].value("reason", ""));
    const Status finished = recording_.finish();
    describe_collection(session_.data, recording_.collector(), recording_.spool(), recording_.arena().control());
    session_.data["state"] = finished ? "collected" : "incomplete";
    const Status written = session_.write();
    if (!finished || !written) {
      return fail(fmt::format("{}; everything is kept: make room, then: mlrun recover {}",
                              (finished ? written : finished).error().text, folder_));
    }
    if (options_.defer_merge) {
      say(fmt::format("the trace is not made yet; make it with: mlrun recover {}", folder_));
    } else if (Status merged = launch::merge({installation.trace_program, folder_, options_.quiet, options_.keep_raw});
               !merged) {
      return tl::make_unexpected(merged.error());
    }
    return whole ? 0 : 125;
  }

  const RunOptions& options_;
  launch::SignalRelay& relay_;
  launch::Observed observed_;
  std::string folder_;
  collect::Recording& recording_;
  session::SessionFile session_;
  std::unique_ptr<launch::KernelSide> side_;
  uint64_t started_ns_ = 0;
};

}  // namespace

Result<int> observe(const RunOptions& options, const session::Installation& installation) {
  auto observed = find_observed(options.observe);
  if (!observed) return tl::make_unexpected(observed.error());
  if (const Status free = session::check_asked_folder(options.output); !free) return tl::make_unexpected(free.error());
  launch::SignalRelay relay;
  relay.no_command();
  const session::NewFolder made(options.output);
  const auto folder = session::make_trace_folder(options.output, observed->name);
  if (!folder) return tl::make_unexpected(folder.error());
  util::begin_log(*folder);
  if (options.verbose) util::set_verbose();
  auto recording = collect::Recording::create(observing_options(*folder));
  if (!recording) {
    util::take_log_back();
    made.take_back(*folder);
    return tl::make_unexpected(recording.error());
  }
  auto status = Observation(options, *std::move(observed), *folder, **recording, relay).run(installation);
  if (!status) {
    util::take_log_back();
    made.take_back(*folder);
  }
  return status;
}

}  // namespace mlrun::commands
