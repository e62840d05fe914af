// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/mount_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kprobes/proc/proc_facts.h"
#include "runner/util/clock.h"

namespace mlrun::probes {

namespace {

constexpr size_t kNamespacesMax = 64;
constexpr uint64_t kShareOfMounts = 10;  // reading mounts takes at most 1/kShareOfMounts of the time

std::string text_of(int mounts) {
  std::string text;
  std::array<char, 4096> piece{};
  ssize_t bytes = ::lseek(mounts, 0, SEEK_SET) == 0 ? 1 : 0;
  while (bytes > 0) {
    bytes = ::read(mounts, piece.data(), piece.size());
    if (bytes > 0) text.append(piece.data(), static_cast<size_t>(bytes));
  }
  return text;
}

}  // namespace

MountWatch::MountWatch() { add("/proc/self", {}); }

void MountWatch::add(uint32_t pid) {
  const std::string folder = living_folder(pid);
  if (!folder.empty()) add(folder, {pid});
}

void MountWatch::add(const std::string& folder, std::vector<uint32_t> named) {
  struct stat status {};
  if (::stat((folder + "/ns/mnt").c_str(), &status) != 0) return;
  const auto known = std::find_if(namespaces_.begin(), namespaces_.end(),
                                  [&](const Namespace& one) { return one.inode == status.st_ino; });
  if (known != namespaces_.end()) {
    if (!known->processes.empty()) known->processes.insert(known->processes.end(), named.begin(), named.end());
    return;
  }
  if (namespaces_.size() >= kNamespacesMax) return;
  util::UniqueFd mounts(::open((folder + "/mountinfo").c_str(), O_RDONLY | O_CLOEXEC));
  if (mounts.valid()) namespaces_.push_back({std::move(mounts), status.st_ino, std::move(named)});
}

void MountWatch::drop_ended() {
  std::erase_if(namespaces_, [](Namespace& one) {
    if (one.processes.empty()) return false;
    std::erase_if(one.processes, [](uint32_t pid) { return !lives(pid); });
    return one.processes.empty();
  });
}

void MountWatch::add_to(std::vector<pollfd>& watched, uint64_t now_ns) const {
  if (now_ns < next_ns_) return;
  for (const Namespace& one : namespaces_) watched.push_back({one.mounts.get(), POLLPRI, 0});
}

FileSystemTypes MountWatch::types() {
  const uint64_t began_ns = util::monotonic_ns();
  FileSystemTypes types;
  for (const Namespace& one : namespaces_) {
    const std::string mounts = text_of(one.mounts.get());
    types.merge(types_in(mounts));
    served_.merge(served_types_in(mounts));
  }
  const uint64_t ended_ns = util::monotonic_ns();
  next_ns_ = ended_ns + (ended_ns - began_ns) * (kShareOfMounts - 1);
  return types;
}

}  // namespace mlrun::probes
