// SPDX-License-Identifier: Apache-2.0
// One copy of a library: where those of its exports are that are followed, and probes on them in one process or in all
// that map it.
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
  uint32_t* epoch = nullptr;          // one more whenever probes of a function that goes on being called are gone
  ProbeLayouts* layouts = nullptr;    // of static probes; they have `call` alone
};

// An export, or a static probe, that is probed.
struct LibraryCall {
  uint16_t number = 0;  // of the library's table in runner/events
  std::string_view name;
  uint32_t cookie = 0;
  bool may_be_let_go = false;        // when it is called all the time
  std::vector<uint8_t> widths = {};  // of a static probe's arguments in bytes; where it is one of several, their sum
};

// A library that is followed wherever it is mapped.
struct FollowedLibrary {
  std::string_view name;
  std::vector<std::string_view> files;  // called one of these, with .so* behind it
  std::vector<LibraryCall> calls;
  LibraryPrograms programs;
  std::string_view provider = {};  // of static probes; empty: its exports are probed
};

// A place in a library file. Two names of the same code are one.
struct LibrarySymbol {
  const LibraryCall* call = nullptr;
  uint64_t offset = 0;  // in the file
  uint64_t cookie = 0;
  uint64_t semaphore = 0;  // likewise in the file; 0: none
};
struct LibrarySymbols {
  std::vector<LibrarySymbol> found;
  std::string missing;  // why the first of those that cannot be probed cannot; empty: all can
};

// Those of the library's calls that the file has; they point into it. The file is not trusted. Fails where it is no library
// for this machine, or has none.
Result<LibrarySymbols> library_symbols(const FollowedLibrary& library, const std::string& path);

// Probes on a library's functions, there while it lives.
class ProbedLibrary {
 public:
  // `path`: of the file, as the kernel finds it now. `pid` 0: in whatever process. Functions in `without` are left out.
  // `between` is called after each function, as attaching a probe takes milliseconds. Fails where not one can be attached.
  static Result<ProbedLibrary> attach(const FollowedLibrary& library, const std::string& path, uint32_t pid,
                                      const std::set<uint16_t>& without, const std::function<void()>& between);

  // A probe that may go, and goes when this does: the kernel takes up to a tenth of a second for each.
  struct LinkDeleter {
    void operator()(bpf_link* link) const;
  };
  using Link = std::unique_ptr<bpf_link, LinkDeleter>;

  // Puts the probes of a function, or all, to those that may go.
  void let_go(uint16_t number, std::vector<Link>& leaving);
  void let_all_go(std::vector<Link>& leaving);
  [[nodiscard]] size_t functions() const { return probes_.size(); }
  // Of the first function that could not be attached; empty: all are.
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
