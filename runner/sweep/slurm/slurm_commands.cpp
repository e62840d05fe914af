// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/slurm/slurm_commands.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/util/number.h"
#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every unistd.h

namespace mlrun::sweep {

namespace {

constexpr int32_t kArrayMost = 1000;  // by Slurm's own default, MaxArraySize = 1001

// This process's environment without SQUEUE_STATES, SQUEUE_PARTITION and all other SQUEUE_ variables, which would hide jobs from squeue or
// change its columns.
std::vector<char*> environment() {
  std::vector<char*> kept;
  for (char** at = environ; *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with("SQUEUE_")) kept.push_back(*at);
  }
  kept.push_back(nullptr);
  return kept;
}

// The reason in a failed command's output: the last line with "error:", else the first one. After a wrong option the last line only names
// --help.
std::string reason_in(const std::vector<std::string_view>& lines) {
  const auto says = [](std::string_view line) { return line.find("error:") != std::string_view::npos; };
  const auto last = std::find_if(lines.rbegin(), lines.rend(), says);
  if (last != lines.rend()) return std::string(*last);
  return lines.empty() ? "it printed nothing" : std::string(lines.front());
}

// Standard output and error of a command together: if it fails, the reason is in them.
Result<std::string> output_of(const Words& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe", errno);
  util::UniqueFd from(ends[0]), to(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd : {STDOUT_FILENO, STDERR_FILENO}) ::posix_spawn_file_actions_adddup2(&actions, to.get(), fd);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::vector<char*> variables = environment();
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, words.front(), &actions, nullptr, words.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail_errno("start " + command.front() + " of Slurm", error);
  to.reset();
  std::string output;
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(from.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    output.append(buffer, static_cast<size_t>(count));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return output;
  return fail(fmt::format("{} of Slurm failed: {}", command.front(), reason_in(util::split(output, "\n"))));
}

// The number in "JOB" or "JOB;CLUSTER"; empty for other lines, which a site may make sbatch print.
std::string job_number(std::string_view line) {
  const std::string_view number = line.substr(0, line.find(';'));
  const bool is_number =
      !number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::string(number) : "";
}

// Escapes a path for sbatch's --output, in which % begins a replacement.
std::string in_pattern(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

// The value after "KEY=" or "KEY   = ".
std::string value_of(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at > 0 && text[at - 1] != ' ' && text[at - 1] != '\n') continue;
    std::string_view rest = text.substr(at + key.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return std::string(rest.substr(0, rest.find_first_of(" \n")));
  }
  return {};
}

// "%N" of the last array option: how many tasks may run at once. The rest of the option is ignored, since mlrun numbers the tasks.
std::string throttle_in(const Words& options) {
  std::string throttle;
  for (size_t i = 0; i < options.size(); ++i) {
    const bool is_split = (options[i] == "-a" || options[i] == "--array") && i + 1 < options.size();
    const bool is_whole = options[i].starts_with("--array=") || (options[i].starts_with("-a") && options[i].size() > 2);
    if (!is_split && !is_whole) continue;
    const std::string& value = options[is_split ? i + 1 : i];
    const size_t at = value.find('%');
    const bool has_limit =
        at != std::string::npos && util::leading_number<int32_t>(std::string_view(value).substr(at + 1)) > 0;
    throttle = has_limit ? value.substr(at) : "";
  }
  return throttle;
}

}  // namespace

int32_t array_size_most() {
  const auto text = output_of({"scontrol", "show", "config"});
  if (!text) return kArrayMost;
  const int32_t size = util::leading_number<int32_t>(value_of(*text, "MaxArraySize"));
  int32_t most = size > 1 ? size - 1 : kArrayMost;
  const std::string parameters = value_of(*text, "SchedulerParameters");
  for (const std::string_view one : util::split(parameters, ",")) {
    constexpr std::string_view kKey = "max_array_tasks=";
    const int32_t tasks = one.starts_with(kKey) ? util::leading_number<int32_t>(one.substr(kKey.size())) : 0;
    if (tasks > 0) most = std::min(most, tasks);
  }
  return most;
}

Result<std::string> submit_array(const std::string& job_name, int32_t tasks, const std::string& script,
                                 const std::string& log_folder, const Words& options) {
  // --no-requeue: a requeued run would begin twice; --resume makes it again instead. sbatch uses the last of a repeated option, so
  // mlrun's come last.
  const std::string log = fmt::format("--output={}/{}-%a.log", in_pattern(log_folder), job_name);
  Words command = {"sbatch"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--parsable", "--no-requeue", "--job-name=" + job_name, log,
                                 fmt::format("--array=0-{}{}", tasks - 1, throttle_in(options)), script});
  auto output = output_of(command);
  if (!output) return output;
  for (const std::string_view line : util::split(*output, "\n")) {
    if (std::string number = job_number(line); !number.empty()) return number;
  }
  return fail("sbatch of Slurm printed no job number: " + reason_in(util::split(*output, "\n")));
}

Result<std::set<ArrayTask>> tasks_in_queue(const std::vector<std::string>& job_names) {
  std::set<ArrayTask> tasks;
  if (job_names.empty()) return tasks;
  const auto output = output_of(
      {"squeue", "--noheader", "--array", "--format=%j %K %T", fmt::format("--name={}", fmt::join(job_names, ","))});
  if (!output) return tl::make_unexpected(output.error());
  for (const std::string_view line : util::split(*output, "\n")) {
    const auto words = util::split(line, " ");
    ArrayTask task;
    if (words.size() < 2) continue;
    task.job_name = words[0];
    task.index = util::leading_number<int32_t>(words[1]);
    tasks.insert(std::move(task));
  }
  return tasks;
}

std::string state_of_task(const std::string& job_id, const ArrayTask& task) {
  const auto text = output_of({"scontrol", "--oneliner", "show", "job", fmt::format("{}_{}", job_id, task.index)});
  if (!text || value_of(*text, "JobName") != task.job_name) return {};
  return value_of(*text, "JobState");
}

}  // namespace mlrun::sweep
