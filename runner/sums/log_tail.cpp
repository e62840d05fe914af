// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"
#include "runner/util/time_units.h"

namespace mlrun::sums {

namespace {

constexpr std::string_view kMarker = ":::MLLOG";
constexpr size_t kLineMax = size_t{1} << 20;
constexpr double kLatestMs = 9e12;

}  // namespace

LogTail::LogTail(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) files_.push_back({path, {}, 0, 0, 0, {}});
}

const std::vector<int64_t>& LogTail::poll() {
  moments_.clear();
  for (File& file : files_) {
    struct stat status {};
    if (::stat(file.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const auto bytes = static_cast<uint64_t>(status.st_size);
    if (file.inode != status.st_ino || bytes < file.read_bytes) {  // the log was replaced or truncated
      file = {file.path, {}, status.st_ino, static_cast<uint32_t>(status.st_dev), 0, {}};
      file.fd.reset(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    }
    if (file.fd.valid() && bytes > file.read_bytes) read(file);
  }
  return moments_;
}

int32_t LogTail::log_of(uint32_t device, uint64_t inode) const {
  for (size_t i = 0; i < files_.size(); i++) {
    if (files_[i].inode == inode && files_[i].device == device && inode != 0) return static_cast<int32_t>(i);
  }
  return -1;
}

void LogTail::read(File& file) {
  std::array<char, 16384> bytes{};
  for (;;) {
    const ssize_t got = ::pread(file.fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(file.read_bytes));
    if (got <= 0) return;
    file.read_bytes += static_cast<uint64_t>(got);
    for (ssize_t i = 0; i < got; i++) {
      const char byte = bytes[static_cast<size_t>(i)];
      if (byte != '\n') {
        if (file.line.size() < kLineMax) file.line += byte;
        continue;
      }
      read_line(file.line);
      file.line.clear();
    }
  }
}

void LogTail::read_line(const std::string& line) {
  const size_t at = line.find(kMarker);
  if (at == std::string::npos || line.find("INTERVAL_", at) == std::string::npos) return;
  const auto event = util::parse_json(std::string_view(line).substr(at + kMarker.size()));
  if (!event.is_object()) return;
  const auto ms = event.find("time_ms");
  if (ms == event.end() || !ms->is_number()) return;
  const auto value = ms->get<double>();
  if (value > 0 && value < kLatestMs) moments_.push_back(static_cast<int64_t>(std::llround(value * util::kNsPerMs)));
}

}  // namespace mlrun::sums
