// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/file_names.h"

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>

#include "runner/events/call_layout.h"

namespace mlrun::summary {

using namespace events::func;  // NOLINT(google-build-using-namespace): only constants

std::string FileNames::path_of(int64_t file_id) const {
  if (file_id <= 0 || static_cast<size_t>(file_id) > files_->size()) return {};
  const auto& file = files_->packed(static_cast<size_t>(file_id) - 1);
  return {file.path, file.path_bytes};
}

std::pair<uint32_t, uint64_t> FileNames::inode_of(int64_t key) const {
  const int64_t file_id = file_id_of(key);
  if (file_id <= 0 || static_cast<size_t>(file_id) > files_->size()) return {};
  const auto& file = files_->packed(static_cast<size_t>(file_id) - 1);
  return {file.dev, file.ino};
}

// The key of the file at the path now; else that of file_id, the first file with that path.
int64_t FileNames::present_key(const std::string& path, int64_t file_id) const {
  const auto found = present_.find(path);
  return found == present_.end() ? key(file_id) : found->second;
}

int64_t FileNames::note(const model::CallRow& row, mlrun_call_class call_class) {
  if (!files_ || row.err != 0 || row.file_id <= 0) return key(row.file_id);
  if (call_class == MLRUN_CLASS_OPEN) return opened(row);
  if (call_class != MLRUN_CLASS_META) return key(row.file_id);
  switch (row.func) {
    case k_rename:
    case k_renameat:
    case k_renameat2: return renamed(row);
    case k_link:
    case k_linkat: return linked(row);
    case k_unlink:
    case k_unlinkat: return unlinked(row);
    default: return key(row.file_id);
  }
}

int64_t FileNames::opened(const model::CallRow& row) {
  const bool writes = (row.flags & O_ACCMODE) != O_RDONLY || (row.flags & O_CREAT) != 0;
  int64_t now = key(row.file_id);
  if (!writes && by_inode_.empty()) return now;
  const auto inode = inode_of(row.file_id);
  if (inode.second == 0) return now;
  if ((row.flags & O_EXCL) == 0) {
    const auto renamed = by_inode_.find(inode);
    if (renamed != by_inode_.end() && renamed->second != now) {
      return keys_.at(static_cast<uint64_t>(row.file_id)) = renamed->second;
    }
  }
  if (!writes) return now;
  const std::string path = path_of(row.file_id);
  const std::string* name = name_of(now);
  if (name && *name != path) {  // the file was renamed, and the path now names another file
    later_.push_back(row.file_id);
    now = keys_.at(static_cast<uint64_t>(row.file_id)) = kLater + static_cast<int64_t>(later_.size());
  }
  if (present_.size() < kNamesMax) present_[path] = now;
  return now;
}

void FileNames::forget(int64_t key) {
  const auto found = by_inode_.find(inode_of(key));
  if (found != by_inode_.end() && found->second == key) by_inode_.erase(found);
}

void FileNames::move(const std::string& path, const std::string& other, int64_t key) {
  present_.erase(path);
  const auto replaced = present_.find(other);
  if (replaced != present_.end() && replaced->second != key) forget(replaced->second);
  if (names_.size() >= kNamesMax && !names_.contains(key)) return;
  present_[other] = key;
  names_[key] = other;
  if (const auto inode = inode_of(key); inode.second != 0) by_inode_[inode] = key;
}

void FileNames::exchange(const std::string& path, const std::string& other) {
  const auto one = present_.find(path), two = present_.find(other);
  if (one == present_.end() || two == present_.end()) return;
  const int64_t first = one->second, second = two->second;
  move(path, other, first);
  present_[path] = second;
  names_[second] = path;
  if (const auto inode = inode_of(second); inode.second != 0) by_inode_[inode] = second;
}

// Renaming a folder renames everything in it.
void FileNames::move_folder(const std::string& path, const std::string& other) {
  const std::string below = path + "/";
  std::vector<std::pair<std::string, int64_t>> inside;
  for (auto at = present_.lower_bound(below); at != present_.end() && at->first.starts_with(below); ++at) {
    inside.emplace_back(*at);
  }
  for (const auto& [name, key] : inside) move(name, other + name.substr(path.size()), key);
}

int64_t FileNames::renamed(const model::CallRow& row) {
  const std::string path = path_of(row.file_id), other = path_of(row.file2_id);
  const int64_t key = present_key(path, row.file_id);
  if (path.empty() || other.empty() || path == other) return key;
  if (row.func == k_renameat2 && (row.flags & RENAME_EXCHANGE) != 0) {
    exchange(path, other);
    return key;
  }
  move_folder(path, other);
  if (inode_of(key).second == 0) return key;  // the file was never opened
  move(path, other, key);
  // The new name now means this file; a file that had the name before is deleted.
  if (inode_of(row.file2_id).second == 0) keys_.at(static_cast<uint64_t>(row.file2_id)) = key;
  return key;
}

int64_t FileNames::linked(const model::CallRow& row) {
  const std::string other = path_of(row.file2_id);
  const auto found = present_.find(path_of(row.file_id));
  if (found == present_.end()) return key(row.file_id);
  const int64_t key = found->second;
  if (other.empty() || present_.size() >= kNamesMax) return key;
  links_[key].push_back(other);
  present_[other] = key;
  return key;
}

// If the file has another name, that becomes its name: link and unlink are a rename in two steps.
int64_t FileNames::unlinked(const model::CallRow& row) {
  const auto found = present_.find(path_of(row.file_id));
  if (found == present_.end()) return key(row.file_id);
  const std::string path = found->first;
  const int64_t key = found->second;
  const std::string* name = name_of(key);
  const bool was_its_name = (name ? *name : path_of(file_id_of(key))) == path;
  present_.erase(found);
  auto& links = links_[key];
  std::erase(links, path);
  if (!was_its_name) return key;
  if (links.empty()) {
    forget(key);
    links_.erase(key);
    return key;
  }
  names_[key] = links.back();
  if (const auto inode = inode_of(key); inode.second != 0) by_inode_[inode] = key;
  links.pop_back();
  return key;
}

}  // namespace mlrun::summary
