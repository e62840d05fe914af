// SPDX-License-Identifier: Apache-2.0
// One copy of a library: the offsets of its recorded exports, and probes on them in one process or in all that map it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kprobes/libraries/probe_layouts.h"
#include "kprobes/rings/mapped_array.h"
#include "runner/util/result.h"

struct bpf_link;
struct bpf_program;

namespace mlrun::probes {

struct LibraryPrograms {
  bpf_program *call = nullptr, *returned = nullptr;
  const MappedArray* hits = nullptr;  // calls by function number; nullptr: not counted
  uint32_t* epoch = nullptr;          // incremented when probes of a function that is still called are released
  ProbeLayouts* layouts = nullptr;    // of static probes, which have only `call`
};

// An export, or a static probe, that is probed.
struct LibraryCall {
  uint16_t number = 0;  // in the library's table in runner/events
  std::string_view name;
  uint32_t cookie = 0;
  bool may_be_let_go = false;        // drop it when it is called too often
  std::vector<uint8_t> widths = {};  // of a static probe's arguments in bytes; of several possible ones the sum
};

// A library that is probed wherever it is mapped.
struct FollowedLibrary {
  std::string_view name;
  std::vector<std::string_view> files;  // file names, without .so*
  std::vector<LibraryCall> calls;
  LibraryPrograms programs;
  std::string_view provider = {};  // of static probes; empty: its exports are probed
};

// An offset in a library file. Two names of the same code are one symbol.
struct LibrarySymbol {
  const LibraryCall* call = nullptr;
  uint64_t offset = 0;  // in the file
  uint64_t cookie = 0;
  uint64_t semaphore = 0;  // offset of its semaphore in the file; 0: none
};
struct LibrarySymbols {
  std::vector<LibrarySymbol> found;
  std::string missing;  // why the first unusable one cannot be probed; empty: all can
};

// Those of the library's calls that the file has; the result points into them. The file is not trusted. Fails if it is
// no library for this machine, or has none of the calls.
Result<LibrarySymbols> library_symbols(const FollowedLibrary& library, const std::string& path);

// Probes on a library's functions, attached while this object lives.
class ProbedLibrary {
 public:
  // `path`: of the file, as the kernel finds it now. `pid` 0: in any process. Leaves out functions in `without`.
  // `between` is called after each function, as attaching a probe takes milliseconds. Fails if no function can be
  // attached.
  static Result<ProbedLibrary> attach(const FollowedLibrary& library, const std::string& path, uint32_t pid,
                                      const std::set<uint16_t>& without, const std::function<void()>& between);

  // A probe that can be moved out and released later: the kernel takes up to a tenth of a second for each.
  struct LinkDeleter {
    void operator()(bpf_link* link) const;
  };
  using Link = std::unique_ptr<bpf_link, LinkDeleter>;

  // Moves the probes of one function, or all, to those that wait for release.
  void let_go(uint16_t number, std::vector<Link>& leaving);
  void let_all_go(std::vector<Link>& leaving);
  [[nodiscard]] size_t functions() const { return probes_.size(); }
  // Why the first function that failed could not be attached; empty: all are.
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
