// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "runner/report/text/text_style.h"
#include "runner/session/new_trace_folder.h"
#include "runner/sweep/plan/run_words.h"
#include "runner/util/file_io.h"
#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMessageBytes = 200;
constexpr const char* kTemporaryEnd = ".tmp";  // of the file that util::write_atomically renames at last
constexpr off_t kEndBytes = 1 << 16;           // read at most, since a program's log may have any size

// Whether the folder has only logs of the sweep: a sweep left it that was killed before it started the run's command. A log may be half
// written.
bool holds_logs_alone(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path name = entry.path().filename();
    const bool is_temporary = name.extension() == kTemporaryEnd;
    if (!session::is_log_of_sweep((is_temporary ? name.stem() : name).string())) return false;
  }
  return !error;
}

}  // namespace

Status make_run_folder(const std::string& out, const std::string& name) {
  std::error_code error;
  fs::create_directories(out + "/runs", error);
  const std::string folder = out + "/runs/" + name;
  for (int number = 1; ::mkdir(folder.c_str(), 0755) != 0; ++number) {
    if (errno != EEXIST) return fail_errno("create the folder " + folder, errno);
    if (holds_logs_alone(folder)) {
      fs::remove_all(folder, error);
      if (error) return fail(fmt::format("cannot remove {}: {}", folder, error.message()));
      continue;
    }
    const std::string left = fmt::format("{}.left-{}", folder, number);
    if (!fs::exists(left, error)) fs::rename(folder, left, error);
    if (error) return fail(fmt::format("cannot move {} away: {}", folder, error.message()));
  }
  return {};
}

Status move_failed_folder(const std::string& out, const RunRow& failed) {
  std::error_code error;
  const std::string from = out + "/runs/" + failed.planned.folder, to = out + "/runs/" + failed_folder(failed);
  if (!fs::exists(from, error) || fs::exists(to, error)) return {};
  fs::rename(from, to, error);
  if (error) return fail(fmt::format("cannot rename {}: {}", from, error.message()));
  return {};
}

Status write_log(const std::string& path, std::string_view text) { return util::write_atomically(path, text, 0644); }

std::string last_line(const std::string& path) {
  const util::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) return {};
  std::string text(static_cast<size_t>(std::min(status.st_size, kEndBytes)), '\0');
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), status.st_size - static_cast<off_t>(text.size()));
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  const auto lines = util::split(text, "\r\n");
  return lines.empty() ? "" : std::string(lines.back().substr(0, kMessageBytes));
}

std::string command_text(const Making& making, const RunRow& run, const SuperviseOptions& options) {
  std::string text;
  if (making.configuration(run).is_dry) {
    if (!options.cpus.empty()) text += fmt::format("# on the CPUs {}\n", options.cpus);
    if (!options.cpu_node.empty()) text += fmt::format("# on the CPUs of node {}\n", options.cpu_node);
    if (!options.mem_node.empty()) text += fmt::format("# with memory of node {}\n", options.mem_node);
  }
  text += variables_text(options.environment);
  for (const std::string& word : options.command) text += report::shell_word(word) + ' ';
  text.back() = '\n';
  return text;
}

}  // namespace mlrun::sweep
