// SPDX-License-Identifier: Apache-2.0
#include "runner/util/file_io.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "runner/util/unique_fd.h"

namespace mlrun::util {

namespace {

// Appends the file to `text`; returns 0 or an errno.
int read_all(int fd, size_t limit_bytes, std::string& text) {
  size_t used = 0;
  text.resize(4096);
  while (used < limit_bytes) {
    if (used == text.size()) text.resize(text.size() * 4);
    const ssize_t got = ::read(fd, text.data() + used, std::min(text.size(), limit_bytes) - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  text.resize(used);
  return 0;
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return 0;
}

}  // namespace

std::string read_text(const std::string& path, size_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!fd.valid() || read_all(fd.get(), limit_bytes, text) != 0) return {};
  return text;
}

std::string read_line(const std::string& path) {
  constexpr size_t kLineBytesMax = 1 << 16;
  std::string text = read_text(path, kLineBytesMax);
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

Result<std::string> read_file(const std::string& path, size_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("open " + path, errno);
  std::string text;
  const size_t enough = limit_bytes == SIZE_MAX ? limit_bytes : limit_bytes + 1;
  if (const int error = read_all(fd.get(), enough, text); error != 0) return fail_errno("read " + path, error);
  if (text.size() > limit_bytes)
    return fail(fmt::format("{} has more than {} MiB; name a smaller file", path, limit_bytes >> 20));
  return text;
}

Status make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(fmt::format("cannot create the folder {}: {}", path, error.message()));
  return {};
}

Result<std::string> real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return fail(fmt::format("cannot find {}: {}", path, error.message()));
  return real.string();
}

Status write_atomically(const std::string& path, std::string_view text, mode_t mode) {
  const std::string temporary = path + ".tmp";
  const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!fd.valid()) return fail_errno("create " + temporary, errno);
  int error = write_all(fd.get(), text);
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return fail_errno("write " + path, error);
}

}  // namespace mlrun::util
