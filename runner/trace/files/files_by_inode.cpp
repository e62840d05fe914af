// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/files_by_inode.h"

#include <algorithm>

#include "runner/trace/files/device_number.h"
#include "runner/util/scrambled.h"

namespace mlrun::trace {

namespace {

constexpr size_t kNamelessMax = 1 << 20;  // further ones are not counted
constexpr int64_t kAlways = INT64_MIN;

uint64_t key(int64_t device, uint64_t inode) {
  return util::scrambled(inode ^ util::scrambled(static_cast<uint64_t>(device) + 1));
}

}  // namespace

FilesByInode::FilesByInode(const model::FileTable& files, const std::vector<FileSeen>& seen,
                           const std::vector<FileMade>& made) {
  add_seen(files, seen, made);
  for (size_t i = 0; i < files.size(); ++i) {
    const model::FileTable::Packed& file = files.packed(i);
    if (file.ino == 0) continue;
    const auto file_id = static_cast<uint32_t>(i + 1);
    const uint64_t inode = key(file.dev, file.ino);
    bool is_new = false;
    if (!lives_.contains(inode)) {
      uint32_t& first = ids_.at(inode, &is_new);
      if (is_new) first = file_id;
    }
    if (files.file_system(i) != "overlay") continue;
    uint32_t& only = on_overlay_.at(util::scrambled(file.ino), &is_new);
    only = is_new ? file_id : 0;
  }
}

void FilesByInode::add_seen(const model::FileTable& files, const std::vector<FileSeen>& seen,
                            const std::vector<FileMade>& made) {
  std::unordered_map<uint64_t, std::vector<FileSeen>> seen_of;
  std::unordered_map<uint64_t, std::vector<int64_t>> made_of;
  for (const FileSeen& one : seen) {
    const model::FileTable::Packed& file = files.packed(static_cast<size_t>(one.file_id) - 1);
    if (file.ino != 0) seen_of[key(file.dev, file.ino)].push_back(one);
  }
  for (const FileMade& one : made) {
    const uint64_t inode = key(one.device, one.inode);
    if (seen_of.contains(inode)) made_of[inode].push_back(one.ns);
  }
  for (auto& [inode, names] : seen_of) lives_[inode] = lives_of(names, made_of[inode]);
}

// A life is the time in which an inode number means one file. It starts when the file was created if that is known, else
// when its name was first seen. The first life starts before all times.
std::vector<FilesByInode::Life> FilesByInode::lives_of(std::vector<FileSeen>& seen, std::vector<int64_t>& made_ns) {
  std::stable_sort(seen.begin(), seen.end(), [](const FileSeen& a, const FileSeen& b) { return a.ns < b.ns; });
  std::sort(made_ns.begin(), made_ns.end());
  std::vector<Life> lives;
  auto made = made_ns.begin();
  const auto add_made_until = [&](int64_t ns) {
    for (; made != made_ns.end() && *made <= ns; ++made) lives.push_back({*made, 0});
  };
  for (const FileSeen& name : seen) {
    add_made_until(name.ns);
    const bool has_life = !lives.empty() && lives.back().file_id == 0;
    if (has_life) {
      lives.back().file_id = name.file_id;
    } else if (lives.empty() || lives.back().file_id != name.file_id) {
      lives.push_back({lives.empty() ? kAlways : name.ns, name.file_id});
    }
  }
  add_made_until(INT64_MAX);
  return lives;
}

int64_t FilesByInode::find(uint32_t device, uint64_t inode, int64_t ts_ns) {
  if (inode == 0) return 0;
  const uint64_t wanted = key(stat_device(device), inode);
  int64_t file_id = 0;
  if (const auto found = lives_.find(wanted); found != lives_.end()) {
    const auto& lives = found->second;
    const auto later = std::upper_bound(lives.begin(), lives.end(), ts_ns,
                                        [](int64_t ns, const Life& life) { return ns < life.from_ns; });
    if (later != lives.begin()) file_id = (later - 1)->file_id;
  } else if (const uint32_t* known = ids_.find(wanted)) {
    file_id = *known;
  } else if (const uint32_t* above = on_overlay_.find(util::scrambled(inode))) {
    file_id = *above;
  }
  if (file_id == 0 && nameless_.size() < kNamelessMax) nameless_.insert(wanted);
  return file_id;
}

}  // namespace mlrun::trace
