// SPDX-License-Identifier: Apache-2.0
// The memory of a process, from texts of /proc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mlrun::placement {

// A part of an address space.
struct Span {
  uint64_t start = 0, end = 0;
  bool operator==(const Span&) const = default;
};

struct Mapping {
  Span span;
  bool is_own_memory = false;  // private, without a file; also explicit huge pages, but no memory of the kernel (vDSO)
  bool is_accessible = false;  // may be read, written or executed; else it only reserves addresses
  bool is_vdso = false;
  std::string file;  // "": none, or a buffer of mlrun; model::Placement::kSharedMemory: shared memory without a file
};

// The mappings in /proc/PID/maps, by rising address. `arena`: the path of mlrun's buffer, which the program did not ask for.
std::vector<Mapping> read_mappings(const std::string& maps, const std::string& arena);

// What is resident by /proc/PID/statm and, of explicit huge pages, which that leaves out, by /proc/PID/status.
uint64_t read_resident_bytes(const std::string& statm, const std::string& status);

}  // namespace mlrun::placement
