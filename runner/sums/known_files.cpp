// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/known_files.h"

#include <sys/stat.h>

#include <utility>

#include "runner/util/scrambled.h"

namespace mlrun::sums {

namespace {

using util::scrambled;

constexpr uint32_t kTypeShift = 12;

// Whether calls on a file of this type mostly wait for another process or machine, as the summary has it
// (summary/meters/call_facts.h): pipes, sockets, character devices, memory files, and files without a type (eventfd
// and others).
bool is_channel(uint32_t type, bool is_memfd) {
  switch (type) {
    case S_IFREG: return is_memfd;
    case S_IFDIR:
    case S_IFBLK:
    case S_IFLNK: return false;
    default: return true;
  }
}

}  // namespace

bool KnownFiles::add(const decode::FileEvent& file, bool is_memfd, bool has_room) {
  const uint32_t type = file.mode & S_IFMT;
  uint64_t identity = scrambled(scrambled(file.path, file.cwd), described(file.dirfd_file));
  identity = scrambled(scrambled(identity, file.inode), file.device | uint64_t{type} << 32);
  if (const uint32_t* known = by_identity_.find(identity)) {
    note(file.number, *known);
    return false;
  }
  if (!has_room || files_.size() >= kFilesMax) {
    File& of_type = of_type_[type >> kTypeShift];
    of_type = {0, type, is_channel(type, is_memfd)};
    note(file.number, kOfType | type >> kTypeShift);
    return false;
  }
  const auto index = static_cast<uint32_t>(files_.size());
  files_.push_back({file.number, type, is_channel(type, is_memfd)});
  by_identity_.at(identity) = index;
  note(file.number, index);
  return true;
}

void KnownFiles::note(uint32_t number, uint32_t index) {
  if (recent_.size() >= kOpenKept) older_ = std::exchange(recent_, {});
  recent_.at(number) = index;
}

const KnownFiles::File* KnownFiles::find(uint32_t number) {
  if (number == 0) return nullptr;
  if (const uint32_t* found = recent_.find(number)) return &at(*found);
  const uint32_t* older = older_.find(number);
  if (!older) return nullptr;
  const uint32_t index = *older;
  note(number, index);
  return &at(index);
}

uint32_t KnownFiles::described(uint32_t number) {
  const File* file = find(number);
  return file ? file->number : 0;
}

std::vector<mlrun_same_file> KnownFiles::same() const {
  std::vector<mlrun_same_file> list;
  for (const auto* map : {&older_, &recent_}) {
    map->for_each([&](uint64_t number, uint32_t index) {
      const uint32_t described = at(index).number;
      if (described != 0 && described != number) list.push_back({static_cast<uint32_t>(number), described});
    });
  }
  return list;
}

}  // namespace mlrun::sums
