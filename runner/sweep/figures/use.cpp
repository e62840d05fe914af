// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/figures/use.h"

#include <sys/wait.h>

#include <cmath>

#include <fmt/format.h>

#include "runner/model/run.h"
#include "runner/util/time_units.h"

namespace mlrun::sweep {

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// "0:01.23", "1:02:03": from an hour on without hundredths. GNU time cuts off, too.
std::string elapsed_text(double seconds) {
  const auto hundredths = static_cast<int64_t>(std::floor(seconds * 100 + 1e-6));
  const int64_t whole_s = hundredths / 100, minutes = whole_s / 60;
  if (minutes >= 60) return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, whole_s % 60);
  return fmt::format("{}:{:02}.{:02}", minutes, whole_s % 60, hundredths % 100);
}

double cut(double seconds) { return std::floor(seconds * 100 + 1e-6) / 100; }

}  // namespace

std::string time_log(const Use& use) {
  std::string text;
  if (WIFSIGNALED(use.wait_status)) {
    text = fmt::format("Command terminated by signal {}\n", WTERMSIG(use.wait_status));
  } else if (WEXITSTATUS(use.wait_status) != 0) {
    text = fmt::format("Command exited with non-zero status {}\n", WEXITSTATUS(use.wait_status));
  }
  const std::string percent =
      use.wall_s > 0 ? fmt::format("{:.0f}%", std::floor((use.user_s + use.sys_s) * 100 / use.wall_s)) : "?%";
  // The averages of text and data, and swaps, are 0 on Linux.
  return text + fmt::format(
                    "{:.2f}user {:.2f}system {}elapsed {}CPU (0avgtext+0avgdata {:.0f}maxresident)k\n"
                    "{:.0f}inputs+{:.0f}outputs ({:.0f}major+{:.0f}minor)pagefaults 0swaps\n",
                    cut(use.user_s), cut(use.sys_s), elapsed_text(use.wall_s), percent, use.max_rss_bytes / 1024,
                    use.input_blocks, use.output_blocks, use.major_faults, use.minor_faults);
}

Use use_of(const rusage& usage) {
  Use use;
  use.user_s = seconds(usage.ru_utime);
  use.sys_s = seconds(usage.ru_stime);
  use.max_rss_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  use.major_faults = static_cast<double>(usage.ru_majflt);
  use.minor_faults = static_cast<double>(usage.ru_minflt);
  use.input_blocks = static_cast<double>(usage.ru_inblock);
  use.output_blocks = static_cast<double>(usage.ru_oublock);
  return use;
}

Result<Use> use_of_trace(const std::string& trace_folder) {
  const auto run = model::read_run(trace_folder);
  if (!run) return tl::make_unexpected(run.error());
  const auto to_s = [](model::Number ns) { return util::in_seconds(ns.value_or(0)); };
  Use use;
  use.wall_s = to_s(run->wall_ns);
  use.user_s = to_s(run->user_ns);
  use.sys_s = to_s(run->sys_ns);
  use.max_rss_bytes = static_cast<double>(run->max_rss_bytes);
  use.major_faults = static_cast<double>(run->use.major_faults);
  use.minor_faults = static_cast<double>(run->use.minor_faults);
  use.input_blocks = static_cast<double>(run->use.input_blocks);
  use.output_blocks = static_cast<double>(run->use.output_blocks);
  use.read_bytes = static_cast<double>(run->use.read_bytes.value_or(-1));
  use.wait_status = static_cast<int>(run->wait_status);
  return use;
}

void add_use(const Use& use, std::map<std::string, double>& figures) {
  figures["wall_s"] = use.wall_s;
  figures["user_s"] = use.user_s;
  figures["sys_s"] = use.sys_s;
  figures["max_rss_bytes"] = use.max_rss_bytes;
  figures["major_faults"] = use.major_faults;
  figures["input_blocks"] = use.input_blocks;
  if (use.read_bytes >= 0) figures["read_bytes"] = use.read_bytes;
}

}  // namespace mlrun::sweep
