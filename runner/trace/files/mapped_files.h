// SPDX-License-Identifier: Apache-2.0
// The file mapped at each address of a process, so that calls on memory (msync, madvise, munmap) get a file. Follows
// the mmap, mremap and munmap calls of each address space; a forked child starts with its parent's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "runner/events/call_layout.h"

namespace mlrun::trace {

// Calls whose file is the one mapped at their address.
constexpr bool is_on_memory(uint16_t func) {
  return func == events::func::k_msync || func == events::func::k_madvise || func == events::func::k_posix_madvise ||
         func == events::func::k_munmap;
}

class MappedFiles {
 public:
  static constexpr size_t kSpansMax = size_t{1} << 20;  // of all address spaces; later ones get no file

  // `space`: an address space. `file` 0: memory without a file. Times are ends of calls, on one clock.
  void map(uint64_t space, uint64_t begin, uint64_t bytes, uint64_t file, uint64_t time);
  // `time`: begin of the call. Keeps later mappings: another thread may map the range again before munmap returns.
  void unmap(uint64_t space, uint64_t begin, uint64_t bytes, uint64_t time);
  void remap(uint64_t space, uint64_t old_begin, uint64_t begin, uint64_t bytes, uint64_t time);
  void fork(uint64_t parent, uint64_t child);

  // 0: unknown.
  [[nodiscard]] uint64_t find(uint64_t space, uint64_t address) const;

 private:
  struct Span {
    uint64_t end = 0, file = 0, made = 0;
  };
  using Spans = std::map<uint64_t, Span>;  // by start, disjoint

  Spans* to_change(uint64_t space);
  void cut(Spans& spans, uint64_t begin, uint64_t end, uint64_t made_before);

  std::unordered_map<uint64_t, std::shared_ptr<Spans>> spaces_;  // shared by forked processes until one of them changes
  size_t room_ = kSpansMax;
};

}  // namespace mlrun::trace
