// SPDX-License-Identifier: Apache-2.0
// Accessed and written bits of a process, cleared and read from outside.
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
  [[nodiscard]] uint64_t bytes() const { return end - start; }
};

// From smaps, which takes some 10 ms a GiB; from maps, without what is in them. Empty: it has ended, or is not ours to see. `longest_ns` as
// below: while smaps is read, calls that change the process's mappings wait.
std::vector<Mapping> read_smaps(pid_t pid, uint64_t& longest_ns);
std::vector<Mapping> read_maps(pid_t pid);
std::vector<Mapping> parse_mappings(const std::string& text);

// Resident pages of 4 KiB, by statm.
uint64_t resident_pages(pid_t pid);
// Bytes in huge pages, by smaps_rollup, which takes as long as smaps.
uint64_t huge_bytes(pid_t pid);

// Each returns errno; 0: done. `longest_ns` becomes the time of the longest call, if that was longer.
enum class Refs : uint8_t { kAccessed = 1, kSoftDirty = 4 };  // what /proc/PID/clear_refs takes
int clear_refs(pid_t pid, Refs what, uint64_t& longest_ns);
// Call before make_cold(). Each processor keeps the pages that were filled last apart until it has some 30, and MADV_COLD leaves
// these out: they would seem touched until then. A migration of pages, here of none, sorts them in; it takes some 20 us.
void sort_new_pages_in();
// MADV_COLD over this range, by one call. What is locked or was unmapped meanwhile is left out.
int make_cold(pid_t pid, uint64_t start, uint64_t end, uint64_t& longest_ns);

// Runs of pages that were written since soft-dirty bits were cleared.
struct Run {
  uint64_t start = 0, bytes = 0;
};
struct WrittenRuns {
  std::vector<Run> runs;
  uint64_t known_until = 0;  // nothing is known from here on: the process has ended, or is not ours to see
  int error = 0;             // errno, if pagemap cannot be read
};
WrittenRuns written_runs(pid_t pid, const Mapping& mapping);

}  // namespace mlrun::access
