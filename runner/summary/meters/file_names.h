// SPDX-License-Identifier: Apache-2.0
// The final name of a file: programs write a temporary file and rename it into place.
//
//   open ck.tmp, write    ck.tmp is file 7
//   rename to ck_0.pt     file 7 is ck_0.pt
//   open ck.tmp, write    ck.tmp is file 9; or 7 again, if it got the inode number of a deleted file: then what comes
//                         from now on counts for a new key
//   open ck_0.pt, read    file 12 by its path, 7 by its inode: counts for 7
//
// Takes rows in order of their ends. Tracks files that were opened for writing, up to kNamesMax; further names keep
// their first meaning.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/events/call_class.h"
#include "runner/model/file_table.h"
#include "runner/model/rows.h"
#include "runner/util/flat_map.h"

namespace mlrun::summary {

class FileNames {
 public:
  static constexpr size_t kNamesMax = size_t{1} << 16;

  // `files` must outlive the object; null: names are not tracked.
  explicit FileNames(const model::FileTable* files = nullptr) : files_(files) {}

  // Call it for every row on files. Returns the key of the row's file.
  int64_t note(const model::CallRow& row, mlrun_call_class call_class);

  // The key of the file that a file_id means now: the file_id itself, or a key for file_id_of() and name_of().
  [[nodiscard]] int64_t key(int64_t file_id) const {
    if (keys_.size() == 0 || file_id == 0) return file_id;
    const int64_t* found = keys_.find(static_cast<uint64_t>(file_id));
    return found ? *found : file_id;
  }

  // file_id_of: the file_id of the file's first row in table `file`. name_of: the file's last name; nullptr: the name in that row.
  [[nodiscard]] int64_t file_id_of(int64_t key) const {
    return key > kLater ? later_[static_cast<size_t>(key - kLater) - 1] : key;
  }
  [[nodiscard]] const std::string* name_of(int64_t key) const {
    const auto found = names_.find(key);
    return found == names_.end() ? nullptr : &found->second;
  }

 private:
  static constexpr int64_t kLater = int64_t{1} << 40;  // larger keys: a file_id used again for another file

  [[nodiscard]] std::string path_of(int64_t file_id) const;
  [[nodiscard]] std::pair<uint32_t, uint64_t> inode_of(int64_t key) const;
  [[nodiscard]] int64_t present_key(const std::string& path, int64_t file_id) const;
  int64_t opened(const model::CallRow& row);
  int64_t renamed(const model::CallRow& row);
  void exchange(const std::string& path, const std::string& other);
  void move_folder(const std::string& path, const std::string& other);
  void move(const std::string& path, const std::string& other, int64_t key);
  int64_t linked(const model::CallRow& row);
  int64_t unlinked(const model::CallRow& row);
  void forget(int64_t key);

  const model::FileTable* files_;
  std::map<std::string, int64_t> present_;          // by path: key of the file there, if it was opened for writing
  std::unordered_map<int64_t, std::string> names_;  // by key
  std::unordered_map<int64_t, std::vector<std::string>> links_;  // by key: further hard links
  std::map<std::pair<uint32_t, uint64_t>, int64_t> by_inode_;    // keys of renamed files that exist
  util::FlatMap<int64_t> keys_;                                  // by file_id: its key, if it differs
  std::vector<int64_t> later_;                                   // file_id of keys above kLater
};

}  // namespace mlrun::summary
