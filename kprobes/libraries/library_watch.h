// SPDX-License-Identifier: Apache-2.0
// Finds libraries in traced processes and attaches probes to them: in each such process alone, or in each copy of the
// library, in every process that maps it. Polls /proc, since a process may load a library later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kprobes/bpf/shared.h"
#include "kprobes/libraries/probed_library.h"
#include "runner/events/kernel_record.h"

namespace mlrun::probes {

class LibraryWatch {
 public:
  // Scope of the probes: the traced processes, or every process that maps a copy of the library which a traced
  // process has mapped.
  enum class Reach : uint8_t { kProcess, kEverybody };

  // `between` is called between two processes, and between two functions; it may call take().
  LibraryWatch(std::vector<FollowedLibrary> libraries, Reach reach, std::function<void()> between);

  // Each scans at once, so that calls after it are seen.
  void follow(uint32_t pid);
  void follow_cgroup(int folder);  // stays open
  void follow_system();

  // A task event of a traced process.
  void take(const mlrun_task& task);

  // Called with /proc/PID/maps of a process that has one of the libraries, whenever it may have changed. Requires: no
  // process is followed yet.
  void on_mappings(std::function<void(uint32_t pid, std::string_view maps, uint64_t read_ns)> callback) {
    on_mappings_ = std::move(callback);
  }

  // Runs for a few milliseconds, or as long as attaching the probes of one library takes, and for at most a tenth of
  // the time.
  void scan(uint64_t now_ns);

  // Why there are no calls of it: no process had it, or the first that did exports none of them; empty: it is probed.
  [[nodiscard]] std::string missing(std::string_view name) const;
  // The processes that had it, and the functions that were dropped.
  [[nodiscard]] nlohmann::json describe(std::string_view name) const;

 private:
  using File = std::tuple<uint32_t, uint32_t, uint64_t>;  // device (major, minor) and inode, as in /proc/PID/maps
  struct Rate {
    uint64_t calls = 0;  // at the last scan
    uint64_t per_second = 0, let_go_ns = 0;
  };
  struct Followed {
    FollowedLibrary library;
    std::map<uint16_t, Rate> rates = {};  // by function
    std::set<uint16_t> without = {};      // functions that were dropped
  };
  struct Probed {
    const Followed* what;
    ProbedLibrary library;
  };
  struct Mapping {
    const Followed* what;
    File file;
    std::string range, path;
  };
  struct Process {
    std::string size;       // of its memory; empty: not read yet
    uint64_t since_ns = 0;  // time of the first scan
    std::map<File, Probed> libraries;
    std::set<File> met;
  };
  // What run.json records about a library in a process.
  struct Found {
    const Followed* what = nullptr;
    uint32_t pid = 0;
    std::string path, reason;
    uint64_t at_ns = 0;
    bool was_there = false;   // mapped when the observation began
    bool was_probed = false;  // the copy had probes, through another process, before this process mapped it
    size_t functions = 0;
  };
  void begin_pass();
  void scan_process(uint32_t pid);
  void scan_mappings(uint32_t pid, Process& process);
  void attach(uint32_t pid, Process& process, const Mapping& mapping);
  void read_rates(uint64_t now_ns);
  void read_rate(Followed& followed, const LibraryCall& call, double seconds);
  void let_go(Followed& followed, uint16_t number);
  [[nodiscard]] const Followed* library_of(std::string_view path) const;
  void forget(uint32_t pid);
  void find_all_now();

  std::vector<Followed> followed_;  // others point into it
  Reach reach_;
  std::function<void()> between_;
  std::function<void(uint32_t, std::string_view, uint64_t)> on_mappings_;
  int cgroup_ = -1;
  bool follows_system_ = false, is_beginning_ = false;
  std::set<uint32_t> asked_for_;  // and their children, while they live
  std::map<uint32_t, Process> processes_;
  std::map<File, Probed> everywhere_;
  std::vector<uint32_t> to_scan_;  // in this pass
  // Probes of processes that have ended, and of functions that are called too often.
  std::vector<ProbedLibrary::Link> leaving_;
  std::vector<std::pair<const Followed*, ProbedLibrary::Link>> let_go_;
  bool is_scanning_ = false;
  std::vector<mlrun_task> taken_meanwhile_;  // handled after the pass: the process being read must not be removed
  struct {
    uint64_t took_ns = 0, next_ns = 0;
  } pass_;
  struct {
    uint64_t last_ns = 0, next_ns = 0;
  } rates_;  // of calls
  struct {
    std::vector<Found> all;
    size_t left_out = 0;
  } found_;
  size_t put_off_ = 0;
};

}  // namespace mlrun::probes
