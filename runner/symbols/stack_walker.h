// SPDX-License-Identifier: Apache-2.0
// From a copy of a thread's stack to the calls on it, by the unwind tables (.eh_frame) of the files that its process had
// mapped, as far as they are on this machine still.
//
//   StackWalker walker(mappings);
//   for each copy: walker.walk(copy, depth)
//
// Memory: of each file that a walk came through the tables, and a descriptor.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runner/events/kernel_record.h"

namespace mlrun::symbols {

// Code of a file in a process, a line of /proc/PID/maps.
struct CodeMapping {
  uint64_t start = 0, end = 0, file_offset = 0, inode = 0;
  std::string path;
};

struct StackCopy {
  std::array<uint64_t, MLRUN_STACK_REGISTERS> registers{};
  uint64_t address = 0;  // of the first byte
  std::string bytes;
  // Begin and end of what could not be read: pages that nobody has written to, as in large arrays, or that were lost.
  std::vector<std::pair<uint64_t, uint64_t>> holes = {};
  uint64_t asked_bytes = 0;  // from `address` on: what lies behind was not asked for

  // `offset`: in bytes.
  [[nodiscard]] bool is_hole(uint64_t offset) const {
    return std::any_of(holes.begin(), holes.end(),
                       [&](const auto& hole) { return hole.first <= offset && offset < hole.second; });
  }
};

struct WalkedFrame {
  size_t mapping = 0;           // index + 1; 0: in none
  uint64_t offset = 0;          // where it goes on, in the file's own numbering of addresses; mapping 0: in memory
  bool is_interrupted = false;  // by a signal
};

struct WalkedStack {
  std::vector<WalkedFrame> frames;  // innermost first
  uint8_t end = 0;                  // enum mlrun_stack_end
};

class StackWalker {
 public:
  // Of the threads of one process, while this is mapped.
  explicit StackWalker(std::vector<CodeMapping> mappings);
  ~StackWalker();
  StackWalker(const StackWalker&) = delete;
  StackWalker& operator=(const StackWalker&) = delete;

  // Some code of a file lies there.
  [[nodiscard]] bool knows(uint64_t address) const;

  // At least one frame, the one that the copy's call returns to. Requires: depth >= 1.
  WalkedStack walk(const StackCopy& copy, size_t depth);

  // Of the file that a frame lies in. The path says so where the file is not the one that was mapped: another one has that
  // name by now, or in another mount namespace. Requires: mapping != 0.
  [[nodiscard]] const std::string& path(size_t mapping) const;
  [[nodiscard]] const std::string& build_id(size_t mapping) const;

 private:
  struct Walk;
  std::unique_ptr<Walk> walk_;
};

}  // namespace mlrun::symbols
