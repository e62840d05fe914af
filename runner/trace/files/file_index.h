// SPDX-License-Identifier: Apache-2.0
// Assigns a file_id to every file of the run: opened files by device, inode and path; names that were only passed to
// calls by path.
//
//   same device and inode, paths that resolve to one path   one file (a symbolic link is not a separate file)
//   same device and inode, other path                       another file: a new name, a hard link, or a reused inode
//   same path, other inode                                  another file: it was replaced
//   /dev/stdin, /proc/self/fd/3                             the file of that device and inode, under its own path
//
// Ids follow the order of the spool, so merging a spool again gives the same ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/decode/event_view.h"
#include "runner/decode/path_ref.h"
#include "runner/events/sums.h"
#include "runner/model/file_table.h"
#include "runner/trace/files/mounts.h"
#include "runner/trace/files/open_file_map.h"
#include "runner/trace/files/symlinks.h"
#include "runner/trace/spool/session_info.h"
#include "runner/trace/spool/string_table.h"
#include "runner/util/chunked_list.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

class FileIndex {
 public:
  // `inherited`: the standard streams of the command. Requires: `strings` and `files` outlive it.
  FileIndex(StringTable& strings, model::FileTable& files, Mounts mounts, std::vector<NamedInode> inherited = {});

  // Requires: in the order of the spool. Files that depend on names not yet defined wait for finish().
  void add(const decode::FileEvent& file);
  void add(const decode::PathRef& path);
  void add(const decode::GivenName& given);
  // Deferred to finish(): the record that describes the file may come later.
  void add(const mlrun_same_file& same) { same_.push_back(same); }
  // Requires: everything was added.
  void finish();

  // Requires: finish() was called. Thread-safe. file_id 0: unknown.
  [[nodiscard]] OpenFile open_file(uint32_t number) { return open_files_.find(number); }
  [[nodiscard]] uint32_t file_of(const decode::PathRef& path);
  [[nodiscard]] model::FileKind kind(uint32_t file_id) const {
    return file_id == 0 ? model::FileKind::kUnknown : files_->kind(file_id - 1);
  }

  // Number of files and names beyond the limits.
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  // The absolute path; nullopt: a name it depends on is not known (yet).
  std::optional<std::string> absolute(const decode::PathRef& path);
  std::string unnamed_in(const std::string& folder, uint64_t inode);
  std::string joined(std::string_view base, std::string_view path);
  bool try_add(const decode::FileEvent& file);
  void find_pending();
  void find_aliases();
  void add_alias(const decode::FileEvent& file, const std::string& path, uint32_t file_id);
  bool try_add_unnamed(const decode::FileEvent& file);
  bool try_name(const decode::GivenName& given);
  void add_described(const decode::FileEvent& file, const std::string& path);
  uint32_t file_under(const std::string& path, std::string_view raw, const decode::FileEvent& file);
  uint32_t make_file(const std::string& path, std::string_view raw, const decode::FileEvent& file);
  uint32_t resolve_path(const decode::PathRef& path);
  [[nodiscard]] std::string path_of(uint32_t file_id) const;
  void note_path(const std::string& path, uint32_t file_id);

  using Map = util::FlatMap<uint32_t, util::SpillAllocator>;
  template <typename T>
  using List = std::vector<T, util::SpillAllocator<T>>;

  StringTable* strings_;
  model::FileTable* files_;
  Mounts mounts_;
  Symlinks symlinks_;
  OpenFileMap open_files_;
  Map by_identity_;  // by device, inode and path
  Map by_event_;     // by file record, since many records are repeated
  Map by_path_;      // the first file of a path
  Map by_ref_;       // index by PathRef
  util::ChunkedList<uint32_t> file_of_ref_;
  std::vector<NamedInode> inherited_;
  List<decode::FileEvent> pending_files_;
  std::vector<std::pair<decode::FileEvent, std::string>> aliases_;  // opened by a name of a descriptor, as /dev/stdin
  util::ChunkedList<decode::PathRef> pending_paths_;
  List<decode::GivenName> pending_names_;
  std::vector<mlrun_same_file> same_;
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::trace
