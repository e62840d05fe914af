// SPDX-License-Identifier: Apache-2.0
// The files of a trace in order of file_id (1, 2, ...). A training may touch millions, so rows are stored packed and
// built on access; otherwise the interface is that of std::vector<FileRow>.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/model/rows.h"
#include "runner/model/text_arena.h"
#include "runner/util/chunked_list.h"

namespace mlrun::model {

class FileTable {
 public:
  // Stored form: texts are references into the arena, file system and mount point an index.
  struct Packed {
    const char* path = nullptr;
    const char* raw_path = nullptr;
    uint64_t ino = 0;
    uint32_t path_bytes = 0, raw_path_bytes = 0;
    uint32_t dev = 0;
    uint16_t mount = 0;
    FileKind kind = FileKind::kUnknown;
  };

  class Iterator {
   public:
    Iterator(const FileTable* table, size_t at) : table_(table), at_(at) {}
    FileRow operator*() const { return (*table_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const FileTable* table_;
    size_t at_;
  };

  [[nodiscard]] size_t size() const { return files_.size(); }
  [[nodiscard]] bool empty() const { return files_.empty(); }
  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size()}; }

  // Requires: index < size(). The file_id of row i is i + 1.
  FileRow operator[](size_t index) const {
    const Packed& file = files_[index];
    const auto& [file_system, mount] = mounts_[file.mount];
    return {.file_id = static_cast<int64_t>(index) + 1,
            .path{file.path, file.path_bytes},
            .raw_path{file.raw_path, file.raw_path_bytes},
            .path_bytes = bytes(index),
            .dev = file.dev,
            .ino = static_cast<int64_t>(file.ino),
            .file_system = file_system,
            .mount = mount,
            .kind = std::string(kind_name(file.kind)),
            .address = address(index)};
  }
  [[nodiscard]] FileKind kind(size_t index) const { return files_[index].kind; }
  [[nodiscard]] const std::string& file_system(size_t index) const { return mounts_[files_[index].mount].first; }

  // Copies the row; its file_id becomes its position + 1.
  void push_back(const FileRow& row) {
    const std::string_view path = texts_->keep(row.path);
    const std::string_view raw = row.raw_path == row.path ? path : texts_->keep(row.raw_path);
    add_packed({.path = path.data(),
                .raw_path = raw.data(),
                .ino = static_cast<uint64_t>(row.ino),
                .path_bytes = static_cast<uint32_t>(path.size()),
                .raw_path_bytes = static_cast<uint32_t>(raw.size()),
                .dev = static_cast<uint32_t>(row.dev),
                .mount = mount(row.file_system, row.mount),
                .kind = kind_of(row.kind)});
    if (!row.path_bytes.empty()) set_bytes(size() - 1, row.path_bytes);
  }

  // Sets the raw bytes of a path whose text has escapes.
  void set_bytes(size_t index, std::string bytes) { bytes_.emplace(index, std::move(bytes)); }
  [[nodiscard]] std::string bytes(size_t index) const {
    const auto found = bytes_.find(index);
    return found == bytes_.end() ? std::string{} : found->second;
  }

  // Sets the address of the other end of a connected socket.
  void set_address(size_t index, std::string address) { addresses_[index] = std::move(address); }
  [[nodiscard]] std::string address(size_t index) const {
    const auto found = addresses_.find(index);
    return found == addresses_.end() ? std::string{} : found->second;
  }

  // Requires: the texts are stored in texts(). Returns the file_id.
  int64_t add_packed(const Packed& file) {
    files_.push_back(file);
    return static_cast<int64_t>(files_.size());
  }
  [[nodiscard]] Packed& packed(size_t index) { return files_[index]; }
  [[nodiscard]] const Packed& packed(size_t index) const { return files_[index]; }

  // Index of a pair of file system type and mount point; 0 if the table is full.
  uint16_t mount(const std::string& file_system, const std::string& mount_point) {
    for (size_t i = 0; i < mounts_.size(); ++i)
      if (mounts_[i].first == file_system && mounts_[i].second == mount_point) return static_cast<uint16_t>(i);
    if (mounts_.size() == UINT16_MAX) return 0;
    mounts_.emplace_back(file_system, mount_point);
    return static_cast<uint16_t>(mounts_.size() - 1);
  }

  [[nodiscard]] TextArena& texts() { return *texts_; }

  static constexpr std::string_view kKindNames[] = {"unknown", "regular", "directory", "character", "block",   "fifo",
                                                    "socket",  "link",    "anonymous", "pipe",      "shm",     "memfd",
                                                    "eventfd", "timerfd", "signalfd",  "epoll",     "inotify", "pidfd"};
  static constexpr std::string_view kind_name(FileKind kind) { return kKindNames[static_cast<size_t>(kind)]; }
  static FileKind kind_of(std::string_view name) {
    for (size_t i = 0; i < std::size(kKindNames); ++i)
      if (kKindNames[i] == name) return static_cast<FileKind>(i);
    return FileKind::kUnknown;
  }

 private:
  util::ChunkedList<Packed> files_;
  std::vector<std::pair<std::string, std::string>> mounts_{{"", ""}};
  std::unordered_map<size_t, std::string> bytes_, addresses_;
  std::shared_ptr<TextArena> texts_ = std::make_shared<TextArena>();
};

}  // namespace mlrun::model
