// SPDX-License-Identifier: Apache-2.0
// Clears and reads the accessed and soft-dirty bits of another process's pages.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mlrun::access {

// A private writable mapping without a file.
struct Mapping {
  uint64_t start = 0, end = 0;
  uint64_t resident_bytes = 0, referenced_bytes = 0, huge_bytes = 0;
  uint64_t shared_bytes = 0, locked_bytes = 0;  // in pages that other processes have too, as after a fork; mlock
  bool is_all_dirty = false;  // "sd" of VmFlags: new, or merged with a new mapping; all its pages count as written
  [[nodiscard]] uint64_t bytes() const { return end - start; }
};

// The mappings of a process: from smaps, which takes some 10 ms per GiB, or from maps, without the byte counts. Empty: the process has ended, or
// we may not read it. `longest_ns` is as below: while smaps is read, calls of the process that change its mappings wait.
std::vector<Mapping> read_smaps(pid_t pid, uint64_t& longest_ns);
std::vector<Mapping> read_maps(pid_t pid);
std::vector<Mapping> parse_mappings(const std::string& text);

// Number of resident pages of 4 KiB, from statm.
uint64_t resident_pages(pid_t pid);
// Bytes in huge pages, from smaps_rollup, which takes as long as smaps.
uint64_t huge_bytes(pid_t pid);

// These functions return errno; 0: done. `longest_ns` becomes the time of the longest call if that was longer.
enum class Refs : uint8_t { kAccessed = 1, kSoftDirty = 4 };  // the values that are written to /proc/PID/clear_refs
int clear_refs(pid_t pid, Refs what, uint64_t& longest_ns);
// To be called before make_cold(). Each processor collects newly filled pages, some 30 of them, before it puts them on the kernel's LRU lists.
// MADV_COLD skips pages that are not on a list, so they would seem touched. move_pages, here with no pages, empties these collections; it takes
// some 20 us.
void sort_new_pages_in();
// Applies MADV_COLD to this range by one call. Pages that are locked or were unmapped meanwhile are skipped.
int make_cold(pid_t pid, uint64_t start, uint64_t end, uint64_t& longest_ns);

// A range of pages that were written since the soft-dirty bits were last cleared.
struct Run {
  uint64_t start = 0, bytes = 0;
};
struct WrittenRuns {
  std::vector<Run> runs;
  uint64_t known_until = 0;  // unknown from this address on: the process has ended, or we may not read it
  int error = 0;             // errno, if pagemap cannot be read
};
WrittenRuns written_runs(pid_t pid, const Mapping& mapping);

// A part of a mapping, and whether its written pages are known.
struct DirtyPart {
  Mapping range;
  bool is_known = true;
};
// The parts of `mapping` by ascending address. `before`: mappings of the moment when the bits were cleared, sorted by address. Where all pages count
// as written, those of older memory may not have been.
std::vector<DirtyPart> dirty_parts(const Mapping& mapping, const std::vector<Mapping>& before);

}  // namespace mlrun::access
