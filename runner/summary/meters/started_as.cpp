// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/started_as.h"

#include <optional>
#include <utility>

#include "runner/util/text.h"

namespace mlrun::summary {
namespace {

std::string_view next_word(std::string_view& rest) {
  const size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  const size_t end = std::min(rest.find(' ', begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

bool is_python(std::string_view program) {
  const std::string_view name = util::base_name(program);
  return name.starts_with("python") || name.starts_with("pypy");
}

// Python options whose value is a separate word.
bool takes_value(std::string_view option) {
  return option == "-W" || option == "-X" || option == "--check-hash-based-pycs";
}

// What a command runs. Python: the text after -c, the module after -m, or a script. Other commands: the program (in `script`).
struct Run {
  std::string_view text, module, script;
  std::string_view arguments;
};

Run run_of(std::string_view command) {
  Run run;
  const std::string_view program = next_word(command);
  if (!is_python(program)) {
    run.script = program;
    run.arguments = command;
    return run;
  }
  for (std::string_view word = next_word(command); !word.empty(); word = next_word(command)) {
    if (word == "-c") {
      run.text = command;
      return run;
    }
    if (word == "-m") {
      run.module = next_word(command);
    } else if (takes_value(word)) {
      next_word(command);
      continue;
    } else if (word.starts_with('-')) {
      continue;
    } else {
      run.script = word;
    }
    run.arguments = command;
    return run;
  }
  return run;
}

// The module in "from MODULE import FUNCTION…", the text with which multiprocessing and libraries derived from it (multiprocess, billiard, loky)
// start helpers; empty for other text.
std::string_view imported(std::string_view text, std::string_view function) {
  if (next_word(text) != "from") return {};
  const std::string_view module = next_word(text);
  if (next_word(text) != "import") return {};
  const std::string_view name = next_word(text);
  const bool is_it = name.starts_with(function) && (name.size() == function.size() || name[function.size()] == ';');
  return is_it ? module : std::string_view();
}

std::string_view last_part(std::string_view module) { return module.substr(module.rfind('.') + 1); }

std::string_view role_of_module(std::string_view module) {
  if (module.ends_with("loky.backend.popen_loky_posix")) return "loky worker";
  if (module == "torch.distributed.run" || module == "torch.distributed.launch") return "elastic agent";
  if (module == "distributed.cli.dask_worker") return "dask worker";
  if (module == "distributed.cli.dask_scheduler") return "dask scheduler";
  return {};
}

// Roles of scripts and programs, by the end of their path.
std::string_view role_of_script(const Run& run) {
  static constexpr std::pair<std::string_view, std::string_view> kScripts[] = {
      {"/torchrun", "elastic agent"},
      {"/dask-worker", "dask worker"},
      {"/dask-scheduler", "dask scheduler"},
      {"/ray/_private/workers/default_worker.py", "ray worker"},
      {"/ray/_private/log_monitor.py", "ray log monitor"},
      {"/ray/autoscaler/_private/monitor.py", "ray autoscaler"},
      {"/ray/dashboard/dashboard.py", "ray dashboard"},
      {"/ray/dashboard/agent.py", "ray agent"},
      {"/ray/_private/runtime_env/agent/main.py", "ray agent"},
      {"/raylet/raylet", "raylet"},
      {"/gcs/gcs_server", "ray gcs_server"},
  };
  for (const auto& [end, role] : kScripts) {
    if (run.script.ends_with(end) || run.script == end.substr(1)) return role;
  }
  if (util::base_name(run.script) != "dask") return {};
  std::string_view arguments = run.arguments;
  const std::string_view verb = next_word(arguments);
  return verb == "worker" ? "dask worker" : verb == "scheduler" ? "dask scheduler" : std::string_view();
}

}  // namespace

std::string_view started_as(std::string_view command) {
  const Run run = run_of(command);
  if (!run.text.empty()) {
    const std::string_view helper = last_part(imported(run.text, "main"));
    if (helper == "forkserver") return "fork server";
    return helper == "resource_tracker" || helper == "semaphore_tracker" ? "resource tracker" : std::string_view();
  }
  return run.module.empty() ? role_of_script(run) : role_of_module(run.module);
}

bool is_spawned(std::string_view command) {
  return last_part(imported(run_of(command).text, "spawn_main")) == "spawn" ||
         command.find("--multiprocessing-fork") != std::string_view::npos;
}

}  // namespace mlrun::summary
