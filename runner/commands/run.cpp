// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/run.h"

#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "runner/collect/pace.h"
#include "runner/collect/proc_files.h"
#include "runner/collect/recording.h"
#include "runner/commands/session_facts.h"
#include "runner/events/session.h"
#include "runner/launch/child_process.h"
#include "runner/launch/environment.h"
#include "runner/launch/file_size_limit.h"
#include "runner/launch/installation.h"
#include "runner/launch/merge.h"
#include "runner/launch/session_file.h"
#include "runner/launch/signal_relay.h"
#include "runner/launch/trace_folder.h"
#include "runner/util/clock.h"
#include "runner/util/standard_streams.h"
#include "runner/util/text.h"

namespace mlrun::commands {

namespace {

constexpr uint64_t kDescendantsNs = 2'000'000'000;  // what outlives the command is waited for this long
constexpr uint64_t kDefaultBufferBytes = 256 << 20;

using util::say;

collect::RecordingOptions recording_options(const RunOptions& options, const std::string& folder) {
  collect::RecordingOptions result;
  result.trace_folder = folder;
  result.buffer_bytes = options.buffer_bytes.value_or(kDefaultBufferBytes);
  result.buffer_exact = options.buffer_bytes.has_value();
  result.max_spool_bytes = options.max_spool_bytes;
  result.lossless = options.lossless;
  result.alloc_min_bytes = options.alloc_min_bytes;
  result.streams =
      (options.files ? uint32_t{MLRUN_STREAM_FILES} : 0u) | (options.allocs ? uint32_t{MLRUN_STREAM_ALLOCS} : 0u);
  return result;
}

// Nothing can be recorded. The command matters more, unless recording was required: this process becomes the command.
Result<int> run_untraced(const RunOptions& options, const launch::FileSizeLimit& limit, const std::string& reason) {
  if (options.preload == Wish::kRequire) return fail("nothing can be recorded: " + reason);
  say(reason + "; running the command without recording");
  limit.restore();
  return tl::make_unexpected(launch::become(options.command));
}

// What the command left behind: threads that record, and processes that may yet begin to.
class Descendants {
 public:
  explicit Descendants(const collect::Recording& recording)
      : variable_(MLRUN_SESSION_VARIABLE "=" + recording.session_variable()) {}

  // Looks through /proc, a few milliseconds, ten times a second at most; once a second when they have been waited for
  // long.
  bool alive(const collect::Collector& collector, uint64_t waited_ns) {
    if (collector.live_threads() > 0) return true;
    if (waited_ns >= next_look_ns_) {
      next_look_ns_ = waited_ns + (waited_ns > kDescendantsNs ? 1'000'000'000 : 100'000'000);
      alive_ = collect::environment_in_use(variable_);
    }
    return alive_;
  }

 private:
  std::string variable_;
  uint64_t next_look_ns_ = 0;
  bool alive_ = false;
};

// Collects until the command, and what it left behind, has ended or has been given enough time.
CommandEnd collect_until_end(const RunOptions& options, collect::Recording& recording, launch::ChildProcess& child,
                             launch::SignalRelay& relay) {
  collect::Collector& collector = recording.collector();
  collect::Pace pace(recording.arena().control());
  Descendants descendants(recording);
  CommandEnd end;
  bool ended = false;
  for (;;) {
    pace.begin_pass();
    if (!ended) {
      if (const auto child_end = child.poll()) {
        ended = true;
        relay.command_ended();
        end.ended_ns = util::monotonic_ns();
        end.wait_status = child_end->wait_status;
        end.usage = child_end->usage;
      }
    }
    const uint32_t released = collector.pass();
    const uint64_t waited_ns = ended ? util::monotonic_ns() - end.ended_ns : 0;
    const bool enough = (waited_ns > kDescendantsNs && !options.wait_all) || launch::SignalRelay::asked_to_stop();
    if (ended && (enough || !descendants.alive(collector, waited_ns))) break;
    pace.sleep(released, collector.pool(), ended && waited_ns <= kDescendantsNs);
  }
  return end;
}

void say_if_stopped_early(const collect::Spool& spool) {
  if (!spool.full()) return;
  const std::string why = spool.last_error() == 0 ? "the spool reached its limit (--max-spool) of "
                                                  : "the disk took no more of the spool, at ";
  say("recording stopped before the end: " + why + util::size_text(spool.bytes()));
}

void say_about_recording(const collect::Recording& recording, const collect::Spool& spool) {
  say(fmt::format("buffer in {} ({}), spool of {}", recording.place().medium, recording.place().path,
                  util::size_text(spool.bytes())));
  if (!spool.direct()) say("the trace folder's file system has no O_DIRECT: the spool went through the page cache");
}

// False: no thread recorded. (A program may make no call that is recorded; loading the library is a record by itself.)
bool tell_if_empty(const collect::Collector& collector) {
  const bool any = collector.channels().channels > 0;
  if (!any) {
    say("error: --preload recorded nothing: no process of the command has loaded the library (statically linked, "
        "setuid, or "
        "started with a cleared environment?)");
  }
  return any;
}

// Makes the trace. The command's own status goes before everything that can go wrong here.
int finish_run(const RunOptions& options, const std::string& folder, collect::Recording& recording,
               const launch::Installation& installation, int status) {
  if (options.verbose) say_about_recording(recording, recording.spool());
  say_if_stopped_early(recording.spool());
  if (options.defer_merge) {
    say(fmt::format("the trace is not made yet; do it with: mlrun recover {}", folder));
  } else if (launch::SignalRelay::asked_to_stop()) {
    say(fmt::format("stopped before the trace was made; do it with: mlrun recover {}", folder));
    return status;
  } else {
    const Status merged = launch::merge({installation.trace_program, folder, options.quiet, options.keep_raw});
    if (!merged) {
      say(merged.error().text);
      return status == 0 ? 125 : status;
    }
  }
  const bool any = tell_if_empty(recording.collector());
  return status == 0 && !any && options.preload == Wish::kRequire ? 125 : status;
}

Result<int> run_traced(const RunOptions& options, const launch::Installation& installation, const std::string& folder,
                       collect::Recording& recording, const launch::FileSizeLimit& limit) {
  launch::SessionFile session(folder);
  describe_start(session.data, options, recording);
  Status written = session.write();
  launch::SignalRelay relay(&recording.arena().control().wake);
  recording.collector().start();
  const uint64_t started_ns = util::monotonic_ns();
  auto child = written ? launch::ChildProcess::start(options.command,
                                                     launch::traced_environment(environ, installation.preload_library,
                                                                                recording.session_variable()),
                                                     relay, [&] { limit.restore(); })
                       : Result<launch::ChildProcess>(tl::make_unexpected(written.error()));
  if (!child) {
    recording.discard();
    session.remove();
    return tl::make_unexpected(child.error());
  }
  CommandEnd end = collect_until_end(options, recording, *child, relay);
  end.started_ns = started_ns;
  describe_command_end(session.data, end);
  const Status finished = recording.finish();
  describe_collection(session.data, recording.collector(), recording.spool(), recording.arena().control());
  session.data["state"] = finished ? "collected" : "incomplete";
  written = session.write();
  const int status = launch::shell_status(end.wait_status);
  if (!finished || !written) {
    say(fmt::format("{}; everything is kept: make room, then: mlrun recover {}",
                    (finished ? written : finished).error().text, folder));
    return status == 0 ? 125 : status;
  }
  return finish_run(options, folder, recording, installation, status);
}

}  // namespace

Result<int> run(const Arguments& arguments) {
  const auto parsed = parse_run(arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const RunOptions& options = **parsed;
  const launch::Installation installation = launch::find_installation();
  const launch::FileSizeLimit limit;
  if (const Status usable = launch::check_preload_library(installation.preload_library); !usable) {
    return run_untraced(options, limit, usable.error().text);
  }
  const auto folder = launch::make_trace_folder(options.output, options.command.front());
  if (!folder) return tl::make_unexpected(folder.error());
  auto recording = collect::Recording::create(recording_options(options, *folder));
  if (!recording) {
    ::rmdir(folder->c_str());
    return run_untraced(options, limit, recording.error().text);
  }
  auto status = run_traced(options, installation, *folder, **recording, limit);
  if (!status) ::rmdir(folder->c_str());
  return status;
}

}  // namespace mlrun::commands
