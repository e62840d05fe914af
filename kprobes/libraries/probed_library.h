// SPDX-License-Identifier: Apache-2.0
// One file of a library: the offsets of its recorded functions, and probes on them, in one process or in all that map
// the file.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kprobes/libraries/bpf_link.h"
#include "kprobes/libraries/probe_layouts.h"
#include "kprobes/rings/mapped_array.h"
#include "runner/util/result.h"

struct bpf_program;

namespace mlrun::probes {

struct LibraryPrograms {
  bpf_program *call = nullptr, *returned = nullptr;
  const MappedArray* hits = nullptr;  // calls by function number; nullptr: not counted
  uint32_t* epoch = nullptr;        // incremented when a function's probes are released: calls may still be in progress
  ProbeLayouts* layouts = nullptr;  // only for static probes, which have no `returned`
};

// A function that the library exports, or a static probe in it.
struct LibraryCall {
  uint16_t number = 0;  // in the library's table in runner/events
  std::string_view name;
  uint32_t cookie = 0;
  bool may_be_detached = false;      // drop it when it is called too often
  std::vector<uint8_t> widths = {};  // allowed bytes of each argument of a static probe, as bits: 5 allows 4 and 1
};

// A library that is probed wherever it is mapped.
struct ObservedLibrary {
  std::string_view name;
  std::vector<std::string_view> files;  // file names, without .so*
  std::vector<LibraryCall> calls;
  LibraryPrograms programs;
  std::string_view provider = {};  // provider of its static probes; empty: exported functions are probed
};

// Where to set a probe in a library file. Two names of the same code have one entry.
struct LibrarySymbol {
  const LibraryCall* call = nullptr;
  uint64_t offset = 0;  // in the file
  uint64_t cookie = 0;
  uint64_t semaphore = 0;  // file offset of a static probe's semaphore; 0: none
};
struct LibrarySymbols {
  std::vector<LibrarySymbol> found;
  std::string missing;  // why the first unusable function or probe cannot be probed; empty: all can be
};

// Finds which of `library.calls` the file contains; the result points into them. The file is not trusted. Fails if it
// is no library for this machine, or contains none of them.
Result<LibrarySymbols> library_symbols(const ObservedLibrary& library, const std::string& path);

// Probes on a library's functions, attached while this object lives.
class ProbedLibrary {
 public:
  // `path`: a path by which the kernel finds the file now. `pid` 0: in all processes. Leaves out functions in
  // `without`. `between` is called after each function, as attaching a probe takes milliseconds. Fails if no function
  // can be attached.
  static Result<ProbedLibrary> attach(const ObservedLibrary& library, const std::string& path, uint32_t pid,
                                      const std::set<uint16_t>& without, const std::function<void()>& between);

  // Move the probes of one function, or of all, to `leaving`, where they wait for their release: the kernel takes up to a
  // tenth of a second for one.
  void detach(uint16_t number, std::vector<Link>& leaving);
  void detach_all(std::vector<Link>& leaving);
  [[nodiscard]] size_t functions() const { return probes_.size(); }
  // Why the first failed function could not be probed; empty: all are probed.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  struct Probe {
    uint16_t number = 0;
    Link call, returned;
  };
  static Link attach(bpf_program* program, const std::string& path, uint32_t pid, const LibrarySymbol& symbol,
                     bool at_return);

  std::vector<Probe> probes_;
  std::string missing_;
};

}  // namespace mlrun::probes
