// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/symlinks.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <memory>

#include "runner/util/lexical_path.h"

namespace mlrun::trace {

namespace {

constexpr size_t kFoldersMax = 1 << 17;  // cached at a time

// Empty: it cannot be resolved.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
  return resolved ? resolved.get() : std::string{};
}

bool is(const struct stat& status, uint32_t device, uint64_t inode) {
  return static_cast<uint32_t>(status.st_dev) == device && status.st_ino == inode;
}

}  // namespace

// Whether the path's links may be resolved here. /proc differs for each process that reads it.
bool Symlinks::is_looked_at(std::string_view path) {
  return path.starts_with('/') && !path.starts_with("/proc/") && !util::names_descriptor(path);
}

const std::string& Symlinks::resolved_folder(std::string_view folder) {
  if (folders_.size() >= kFoldersMax) folders_.clear();
  const auto [place, made] = folders_.try_emplace(std::string(folder));
  if (made) place->second = real_path(place->first);
  if (place->second.empty()) place->second = place->first;
  return place->second;
}

std::string Symlinks::with_resolved_folder(const std::string& path) {
  if (!is_looked_at(path)) return path;
  const std::string& folder = resolved_folder(util::folder_of(path));
  const std::string_view name = std::string_view(path).substr(path.rfind('/'));
  return folder == "/" ? std::string(name) : folder + std::string(name);
}

std::string Symlinks::resolve(const std::string& path, uint32_t device, uint64_t inode) {
  if (!is_looked_at(path)) return path;
  std::string candidate = with_resolved_folder(path);
  struct stat status {};
  if (::lstat(candidate.c_str(), &status) != 0) return path;
  if (is(status, device, inode)) return candidate;
  if (!S_ISLNK(status.st_mode)) return path;
  candidate = real_path(candidate);
  if (candidate.empty() || ::lstat(candidate.c_str(), &status) != 0) return path;
  return is(status, device, inode) ? candidate : path;
}

}  // namespace mlrun::trace
