// SPDX-License-Identifier: Apache-2.0
#include "kprobes/proc/proc_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kprobes/proc/names_in.h"
#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/proc_files.h"
#include "runner/util/proc_lines.h"
#include "runner/util/secrets.h"
#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

constexpr size_t kProcFileBytesMax = 4096;

enum class State { kGone, kZombie, kThere };
struct Stat {
  State state = State::kGone;
  uint32_t ppid = 0;
  uint64_t start_ticks = 0;
};

std::string link_text(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t bytes = ::readlink(path.c_str(), target.data(), target.size());
  return bytes <= 0 ? std::string() : util::escaped_utf8({target.data(), static_cast<size_t>(bytes)});
}

std::string command_text(const std::string& folder) {
  return util::escaped_utf8(util::masked_command_line(util::read_text(folder + "/cmdline", kProcFileBytesMax)));
}

// The path of the process's cgroup in the unified hierarchy (v2).
std::string cgroup_text(const std::string& folder) {
  const std::string text = util::read_text(folder + "/cgroup", kProcFileBytesMax);
  for (const std::string_view line : util::split(text, "\n")) {
    if (line.starts_with("0::")) return util::escaped_utf8(line.substr(3));
  }
  return {};
}

Stat stat_of(const std::string& folder) {
  constexpr size_t kState = 0, kParent = 1, kStart = 19;  // indices of the fields after the name
  const std::string text = util::read_text(folder + "/stat", kProcFileBytesMax);
  const auto words = util::stat_words(text);
  if (words.size() <= kStart || words[kState] == "X") return {};
  return {words[kState] == "Z" ? State::kZombie : State::kThere, util::leading_number<uint32_t>(words[kParent]),
          util::leading_number<uint64_t>(words[kStart])};
}

std::string folder_of(uint32_t pid) { return fmt::format("/proc/{}", pid); }

}  // namespace

std::string living_folder(uint32_t pid) {
  const std::string folder = folder_of(pid);
  const State state = stat_of(folder).state;
  if (state != State::kZombie) return state == State::kThere ? folder : std::string();
  for (const std::string& tid : names_in(folder + "/task")) {
    const std::string thread = folder + "/task/" + tid;
    if (stat_of(thread).state == State::kThere) return thread;
  }
  return {};
}

std::optional<uint32_t> owner_of(uint32_t pid) {
  const std::string folder = living_folder(pid);
  struct stat file {};
  if (folder.empty() || ::stat((folder + "/stat").c_str(), &file) != 0) return std::nullopt;
  return file.st_uid;
}

std::string process_text(uint32_t pid) {
  const Stat stat = stat_of(folder_of(pid));
  const std::string folder = living_folder(pid);
  if (folder.empty()) return {};
  const std::string status = util::read_text(folder + "/status", kProcFileBytesMax);
  const auto uids = util::status_words(status, "Uid:"), pids = util::status_words(status, "NStgid:");
  const nlohmann::json facts = {{"ppid", stat.ppid},
                                {"start_ticks", stat.start_ticks},
                                {"uid", uids.empty() ? 0 : util::leading_number<uint32_t>(uids.front())},
                                {"ns_pid", pids.empty() ? 0 : util::leading_number<uint32_t>(pids.back())},
                                {"pid_namespace", util::pid_namespace_in(folder)},
                                {"exe", link_text(folder + "/exe")},
                                {"cwd", link_text(folder + "/cwd")},
                                {"command", command_text(folder)},
                                {"cgroup", cgroup_text(folder)}};
  return facts.dump();
}

bool lives(uint32_t pid) {
  switch (stat_of(folder_of(pid)).state) {
    case State::kThere: return true;
    case State::kZombie: return names_in(fmt::format("/proc/{}/task", pid)).size() > 1;
    case State::kGone: return false;
  }
  return false;
}

uint32_t pid_of(int pidfd) {
  const std::string info = util::read_text(fmt::format("/proc/self/fdinfo/{}", pidfd), kProcFileBytesMax);
  const auto words = util::status_words(info, "Pid:");
  return words.empty() ? 0 : util::leading_number<uint32_t>(words.front());
}

}  // namespace mlrun::probes
