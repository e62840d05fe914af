// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/process_names.h"

#include <pwd.h>
#include <sys/stat.h>

#include <array>

#include <fmt/format.h>

#include "runner/util/file_io.h"
#include "runner/util/secrets.h"
#include "runner/util/text.h"

namespace mlrun::monitor {

namespace {

constexpr size_t kArgsReadMax = 64 << 10, kArgsShownMax = 512;

std::string name_of_user(uid_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{}, *found = nullptr;
  const bool known = ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
  return known ? util::escaped_utf8(entry.pw_name) : fmt::format("{}", uid);
}

// Cuts between two characters, so that the text stays valid UTF-8.
std::string cut(std::string text) {
  if (text.size() <= kArgsShownMax) return text;
  size_t end = kArgsShownMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string args_of(const std::string& process) {
  return cut(util::escaped_utf8(util::masked_command_line(util::read_text(process + "/cmdline", kArgsReadMax))));
}

}  // namespace

// Cached: a lookup may be slow, and there are few users.
std::string ProcessNames::user_of(const std::string& process) {
  struct stat status {};
  if (::stat(process.c_str(), &status) != 0) return {};
  const auto [known, is_new] = users_.try_emplace(status.st_uid);
  if (is_new) known->second = name_of_user(status.st_uid);
  return known->second;
}

ProcessName ProcessNames::of(uint32_t pid) {
  const std::string folder = fmt::format("{}/{}", proc_, pid);
  std::string comm = util::read_text(folder + "/comm");
  if (comm.ends_with('\n')) comm.pop_back();
  return {wanted_.users ? user_of(folder) : std::string(), util::escaped_utf8(comm),
          wanted_.args ? args_of(folder) : std::string()};
}

void ProcessNames::fill(std::vector<ProcessNow>& processes) {
  for (ProcessNow& process : processes) {
    if (process.row.pid == 0) continue;
    const ProcessName name = of(process.row.pid);
    process.user = name.user;
    process.comm = name.comm;
    process.args = name.args;
  }
}

}  // namespace mlrun::monitor
