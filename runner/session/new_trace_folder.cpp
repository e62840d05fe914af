// SPDX-License-Identifier: Apache-2.0
#include "runner/session/new_trace_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "runner/util/file_io.h"

namespace mlrun::session {

namespace {

namespace fs = std::filesystem;

// Replaces characters that are awkward in a path.
std::string short_name(const std::string& path) {
  std::string name = fs::path(path).filename().string().substr(0, 64);
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '+';
    if (!plain) c = '-';
  }
  return name.empty() ? "run" : name;
}

Status check_free(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return {};
  if (!fs::is_directory(folder, error)) return fail(folder + " is a file; name a new folder with -o");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (is_log_of_sweep(entry.path().filename().string())) continue;
    return fail(folder + " holds something already, and a trace never overwrites; name a new folder with -o");
  }
  return {};
}

Result<std::string> make_asked(const std::string& folder) {
  std::error_code error;
  const fs::path parent = fs::path(folder).lexically_normal().parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  if (::mkdir(folder.c_str(), 0755) == 0) return util::real_path(folder);
  if (errno != EEXIST) return fail_errno("make the trace folder " + folder, errno);
  if (Status free = check_free(folder); !free) return tl::make_unexpected(free.error());
  return util::real_path(folder);
}

}  // namespace

bool is_log_of_sweep(std::string_view name) {
  return std::find(kLogsOfSweep.begin(), kLogsOfSweep.end(), name) != kLogsOfSweep.end();
}

Status check_asked_folder(const std::optional<std::string>& asked) { return asked ? check_free(*asked) : Status(); }

Result<std::string> make_trace_folder(const std::optional<std::string>& asked, const std::string& name) {
  if (asked) return make_asked(*asked);
  for (int number = 1;; number++) {
    const std::string folder = fmt::format("mlrun-{}-{}", short_name(name), number);
    if (::mkdir(folder.c_str(), 0755) == 0) return util::real_path(folder);
    if (errno != EEXIST) {
      return fail(fmt::format("cannot make the trace folder {} here: {}; name another place with -o", folder,
                              std::strerror(errno)));
    }
  }
}

static bool is_there(const std::optional<std::string>& folder) {
  std::error_code ignored;
  return folder && fs::exists(*folder, ignored);
}

NewFolder::NewFolder(const std::optional<std::string>& asked) : was_there_(is_there(asked)) {}

void NewFolder::take_back(const std::string& folder) const {
  if (!was_there_) ::rmdir(folder.c_str());
}

}  // namespace mlrun::session
