// SPDX-License-Identifier: Apache-2.0
// Unwinds a copy of a thread's stack by the unwind tables (.eh_frame) of the files that its process had mapped, if these files still exist.
//
//   StackWalker walker(mappings);
//   for each copy: walker.walk(copy, depth)
//
// Memory: the tables of each file that a walk used, and one descriptor per file.
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

// An executable file mapping of a process: a line of /proc/PID/maps.
struct CodeMapping {
  uint64_t start = 0, end = 0, file_offset = 0, inode = 0;
  std::string path;
};

struct StackCopy {
  std::array<uint64_t, MLRUN_STACK_REGISTERS> registers{};
  uint64_t address = 0;  // of the first byte
  std::string bytes;
  // Ranges [start, end) in bytes from `address` that could not be read: pages never written to, as in large arrays, or lost.
  std::vector<std::pair<uint64_t, uint64_t>> holes = {};
  uint64_t asked_bytes = 0;  // length requested from `address` on

  // `offset`: in bytes from `address`.
  [[nodiscard]] bool is_hole(uint64_t offset) const {
    return std::any_of(holes.begin(), holes.end(),
                       [&](const auto& hole) { return hole.first <= offset && offset < hole.second; });
  }
};

struct WalkedFrame {
  size_t mapping = 0;           // index + 1; 0: none
  uint64_t offset = 0;          // return address in the file's own numbering; mapping 0: address in memory
  bool is_interrupted = false;  // by a signal: the offset is that of the interrupted instruction
};

struct WalkedStack {
  std::vector<WalkedFrame> frames;  // innermost first
  uint8_t end = 0;                  // enum mlrun_stack_end
};

class StackWalker {
 public:
  // The executable mappings of one process; valid for all its threads until they change.
  explicit StackWalker(std::vector<CodeMapping> mappings);
  ~StackWalker();
  StackWalker(const StackWalker&) = delete;
  StackWalker& operator=(const StackWalker&) = delete;

  // Whether code of a file is mapped at the address.
  [[nodiscard]] bool knows(uint64_t address) const;

  // Returns at least one frame, the return address of the copied call. Requires: depth >= 1.
  WalkedStack walk(const StackCopy& copy, size_t depth);

  // Path of the file that contains a frame, with a mark if the file is not the mapped one: it was replaced, or is in another mount namespace.
  // Requires: mapping != 0.
  [[nodiscard]] const std::string& path(size_t mapping) const;
  [[nodiscard]] const std::string& build_id(size_t mapping) const;

 private:
  struct Walk;
  std::unique_ptr<Walk> walk_;
};

}  // namespace mlrun::symbols
