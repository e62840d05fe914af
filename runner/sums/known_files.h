// SPDX-License-Identifier: Apache-2.0
// Identifies open files that are the same file. Every open file has its own number and description record. A run may open
// one file a million times, but keeps one description: all numbers of the file map to the first number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner/decode/event_view.h"
#include "runner/events/sums.h"
#include "runner/util/flat_map.h"

namespace mlrun::sums {

class KnownFiles {
 public:
  static constexpr size_t kFilesMax = size_t{1} << 16;
  static constexpr size_t kOpenKept = size_t{1} << 16;  // at least the most recently used open files

  struct File {
    // Number of the open file whose description is kept; 0: none, for lack of room, so that only the type is known.
    uint32_t number = 0;
    uint32_t type = 0;  // as in st_mode
    bool is_channel = false;
  };

  // Takes a description. True: the file is new and got a place, so its record must be kept. `is_memfd`: its name is that
  // of a memory file. `has_room` false: the spool has no room for further descriptions.
  bool add(const decode::FileEvent& file, bool is_memfd, bool has_room);

  // The file of an open file's number; null: not described yet, or evicted.
  const File* find(uint32_t number);

  // The number whose kept description is that of this open file; 0: none.
  uint32_t described(uint32_t number);

  // Recently used numbers whose description is kept under another number.
  [[nodiscard]] std::vector<mlrun_same_file> same() const;

 private:
  static constexpr uint32_t kOfType = 1u << 31;  // flag: the index is one of of_type_, not of files_

  [[nodiscard]] const File& at(uint32_t index) const {
    return (index & kOfType) != 0 ? of_type_[index & 0xf] : files_[index];
  }
  void note(uint32_t number, uint32_t index);

  std::vector<File> files_;
  std::array<File, 16> of_type_{};       // represent all files without a place, by type
  util::FlatMap<uint32_t> by_identity_;  // index in files_
  util::FlatMap<uint32_t> recent_, older_;
};

}  // namespace mlrun::sums
