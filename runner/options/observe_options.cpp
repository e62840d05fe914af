// SPDX-License-Identifier: Apache-2.0
#include "runner/options/observe_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "runner/options/option_needs.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun {

namespace {

constexpr uint64_t kShortestLiveNs = 100'000'000;

Status read_pids(const std::string& text, ObserveOptions& observe) {
  if (util::has_empty_part(text)) return fail(fmt::format("--pid {}: a PID is missing beside a comma", text));
  for (const std::string_view word : util::split(text, ",")) {
    const int pid = util::whole_number<int>(word).value_or(0);
    if (pid <= 0) return fail(fmt::format("--pid {}: '{}' is not a PID", text, word));
    if (std::find(observe.pids.begin(), observe.pids.end(), pid) == observe.pids.end()) observe.pids.push_back(pid);
  }
  if (observe.pids.empty()) return fail("--pid names no process");
  return {};
}

Status read_duration(const std::optional<std::string>& text, ObserveOptions& observe) {
  if (!text) return {};
  const auto time = util::parse_seconds(*text);
  if (!time) return fail("--duration: " + time.error().text);
  if (*time == 0) return fail(fmt::format("--duration {}: it must be greater than 0", *text));
  observe.duration_ns = *time;
  return {};
}

Status read_live(const std::optional<std::string>& text, RunOptions& options) {
  if (!text) return {};
  if (!options.kernel_streams.cuda) return fail("--live shows GPU memory: add --kprobes=cuda");
  const auto time = util::parse_seconds(*text);
  if (!time) return fail("--live: " + time.error().text);
  if (*time < kShortestLiveNs) return fail(fmt::format("--live {}: give 100ms or more", *text));
  options.observe.live_ns = *time;
  return {};
}

Status check_observe(const char* how, const RunTexts& texts, const std::vector<std::string>& rest,
                     const RunOptions& options) {
  if (options.kprobes == Wish::kOff) {
    return fail(fmt::format("{} needs the kernel side: add --kprobes", how));
  }
  if (const std::string other = option_of_commands(texts, options); !other.empty()) {
    return fail(fmt::format(
        "{} attaches to what runs already, and {} is about a command that mlrun starts: remove one of the two", how,
        other));
  }
  const auto word = std::find_if(rest.begin(), rest.end(), [](const std::string& text) { return text != "--"; });
  if (word == rest.end()) return {};
  if (word->starts_with('-')) return fail(fmt::format("{}: no such option; see mlrun run --help", *word));
  return fail(
      fmt::format("{} attaches to what runs already and starts nothing: leave out the command ({})", how, *word));
}

}  // namespace

Status read_observe(const RunTexts& texts, const std::vector<std::string>& rest, RunOptions& options) {
  ObserveOptions& observe = options.observe;
  const int ways = int{texts.pid.has_value()} + int{texts.cgroup.has_value()} + int{observe.system};
  if (ways == 0 && texts.duration) return fail("--duration goes with --pid, --cgroup or --system");
  if (ways == 0 && texts.live) return fail("--live goes with --kprobes=cuda and --pid, --cgroup or --system");
  if (ways == 0 && options.kernel_streams.cuda) {
    return fail("--kprobes=cuda goes with --pid, --cgroup or --system; --cupti records what a command does with CUDA");
  }
  if (ways == 0) return {};
  if (ways > 1) return fail("--pid, --cgroup and --system each select what to attach to: give one of them");
  const char* how = texts.pid ? "--pid" : texts.cgroup ? "--cgroup" : "--system";
  Status status = check_observe(how, texts, rest, options);
  if (status && texts.pid) status = read_pids(*texts.pid, observe);
  if (status && texts.cgroup) observe.cgroup = *texts.cgroup;
  if (status && texts.cgroup && observe.cgroup.empty()) status = fail("--cgroup names no cgroup");
  if (status) status = read_duration(texts.duration, observe);
  if (status) status = read_live(texts.live, options);
  options.preload = options.sample = options.cupti = options.python_stacks = Wish::kOff;
  return status;
}

}  // namespace mlrun
