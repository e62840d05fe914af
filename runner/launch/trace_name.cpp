// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/trace_name.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "runner/util/secret_names.h"
#include "runner/util/text.h"

namespace mlrun::launch {

namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "dash", "zsh", "ksh"};
constexpr std::array<std::string_view, 6> kOtherInterpreters = {"perl", "ruby", "node", "julia", "Rscript", "lua"};
// Launchers: they start another program or a script, named after their own options.
constexpr std::array<std::string_view, 32> kLaunchers = {
    "torchrun", "accelerate", "deepspeed", "horovodrun", "mpirun",  "mpiexec", "srun",   "env",
    "nice",     "nohup",      "timeout",   "numactl",    "taskset", "ionice",  "setsid", "stdbuf",
    "chrt",     "time",       "uv",        "uvx",        "poetry",  "pipenv",  "conda",  "mamba",
    "ipython",  "coverage",   "sudo",      "strace",     "perf",    "nsys",    "ncu",    "composer"};
// Launcher modules.
constexpr std::array<std::string_view, 8> kLauncherModules = {"torch.distributed.run",
                                                              "torch.distributed.launch",
                                                              "accelerate.commands.launch",
                                                              "deepspeed.launcher.runner",
                                                              "cProfile",
                                                              "pdb",
                                                              "trace",
                                                              "coverage"};

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// "python", "python3.11", "pypy3".
bool is_python(std::string_view name) {
  if (!name.starts_with("python") && !name.starts_with("pypy")) return false;
  name.remove_prefix(name.starts_with("python") ? 6 : 4);
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_script(const std::string& word) {
  static constexpr std::array<std::string_view, 3> kEndings = {".py", ".pyc", ".pyz"};
  if (word.empty() || word.front() == '-' || word.find('=') != std::string::npos) return false;
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return word.ends_with(ending); });
}

// The script's file name without its extension; for pkg/__main__.py the folder's name. Empty: no usable name.
std::string script_name(const std::string& path) {
  static constexpr std::array<std::string_view, 12> kEndings = {".py",  ".pyc", ".pyz", ".pyw", ".sh", ".bash",
                                                                ".zsh", ".pl",  ".rb",  ".js",  ".jl", ".R"};
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) return {};  // a shell's <(...)
  const std::filesystem::path script(path);
  if (script.filename() == "__main__.py") return script.parent_path().filename().string();
  const std::string name = script.has_filename() ? file_name(path) : script.parent_path().filename().string();
  const std::string ending = std::filesystem::path(name).extension().string();
  return util::is_one_of(ending, kEndings) ? name.substr(0, name.size() - ending.size()) : name;
}

std::string name_of(const Words& words, size_t first);

// The first script after a launcher's words, or the one that an interpreter among them runs.
std::string name_behind(const Words& words, size_t first) {
  for (size_t i = first; i < words.size(); i++) {
    const bool is_secret = words[i - 1].starts_with('-') && util::names_secret(words[i - 1], util::NamePlace::kOption);
    if (is_secret || words[i].starts_with('-') || words[i].find('=') != std::string::npos) continue;
    if (is_script(words[i])) return script_name(words[i]);
    const std::string name = file_name(words[i]);
    if (!is_python(name) && !util::is_one_of(name, kShells) && !util::is_one_of(name, kLaunchers)) continue;
    const std::string found = name_of(words, i);
    return found.empty() ? name : found;
  }
  return {};
}

// `at`: index of -m's value.
std::string module_name(const Words& words, size_t at, std::string module) {
  if (util::is_one_of(module, kLauncherModules)) {
    if (std::string behind = name_behind(words, at + 1); !behind.empty()) return behind;
  }
  if (module.ends_with(".__main__")) module.resize(module.size() - std::string_view(".__main__").size());
  return module;
}

// After the interpreter: options, some with a value, then a script; or -m and a module; or -c.
std::string python_script(const Words& words, size_t first) {
  for (size_t i = first; i < words.size(); i++) {
    const std::string& word = words[i];
    if (word == "--") return i + 1 < words.size() ? script_name(words[i + 1]) : std::string();
    if (!word.starts_with('-')) return script_name(word);
    if (word == "-") return {};
    if (word.starts_with("--")) {
      if (word == "--check-hash-based-pycs") ++i;
      continue;
    }
    const size_t valued = word.find_first_of("cmWX", 1);  // "-um pkg.mod", "-mpkg.mod"
    if (valued == std::string::npos) continue;
    if (word[valued] == 'c') return {};
    const bool is_joined = valued + 1 < word.size();
    if (word[valued] == 'm') {
      if (is_joined) return module_name(words, i, word.substr(valued + 1));
      return i + 1 < words.size() ? module_name(words, i + 1, words[i + 1]) : std::string();
    }
    if (!is_joined) ++i;
  }
  return {};
}

// The script that a shell runs; empty for `bash -c TEXT`.
std::string shell_script(const Words& words, size_t first) {
  for (size_t i = first; i < words.size(); i++) {
    const std::string& word = words[i];
    if (!word.starts_with('-') && !word.starts_with('+')) return script_name(word);
    if (word == "-" || word == "--") return i + 1 < words.size() ? script_name(words[i + 1]) : std::string();
    if (word.starts_with("--")) {
      if (word == "--rcfile" || word == "--init-file") ++i;
      continue;
    }
    if (word.find_first_of("cs", 1) != std::string::npos) return {};
    if (word.ends_with('o') || word.ends_with('O')) ++i;
  }
  return {};
}

// Empty: use the program's own name.
std::string name_of(const Words& words, size_t first) {
  const std::string program = file_name(words[first]);
  if (is_python(program)) return python_script(words, first + 1);
  if (util::is_one_of(program, kShells)) return shell_script(words, first + 1);
  if (util::is_one_of(program, kLaunchers)) return name_behind(words, first + 1);
  const bool has_script = first + 1 < words.size() && !words[first + 1].starts_with('-');
  return util::is_one_of(program, kOtherInterpreters) && has_script ? script_name(words[first + 1]) : std::string();
}

}  // namespace

std::string trace_name(const Words& command) {
  if (command.empty()) return "run";
  const std::string name = name_of(command, 0);
  return name.empty() ? file_name(command.front()) : name;
}

}  // namespace mlrun::launch
