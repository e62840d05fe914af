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
  // Which processes the probes are in: only traced ones, or every process that maps a library file which a traced
  // process has mapped.
  enum class Reach : uint8_t { kProcess, kEverybody };

  // `between` is called between two processes, and between two functions; it may call take().
  LibraryWatch(std::vector<ObservedLibrary> libraries, Reach reach, std::function<void()> between);

  // Each of these three scans the processes at once, so that later calls of their libraries are recorded.
  void follow(uint32_t pid);
  void follow_cgroup(int folder);  // requires: the descriptor stays open
  void follow_system();

  // A task event of a traced process.
  void take(const mlrun_task& task);

  // Sets the callback that gets /proc/PID/maps of a process with one of the libraries, whenever its mappings may have
  // changed. Requires: no process is observed yet.
  void on_mappings(std::function<void(uint32_t pid, std::string_view maps, uint64_t read_ns)> callback) {
    on_mappings_ = std::move(callback);
  }

  // Scans some processes. Returns after a few milliseconds, or when the probes of one library are attached, which may
  // take longer. All calls together use at most a tenth of the time.
  void scan(uint64_t now_ns);

  // Why no calls of the library are recorded: no process had mapped it, or the first copy found could not be probed;
  // empty: it is probed.
  [[nodiscard]] std::string missing(std::string_view name) const;
  // For run.json: the processes that had mapped the library, and the functions that were dropped for too many calls.
  [[nodiscard]] nlohmann::json describe(std::string_view name) const;

 private:
  using File = std::tuple<uint32_t, uint32_t, uint64_t>;  // device (major, minor) and inode, as in /proc/PID/maps
  struct Rate {
    uint64_t calls = 0;  // at the last scan
    uint64_t per_second = 0, detached_ns = 0;
  };
  struct Observed {
    ObservedLibrary library;
    std::map<uint16_t, Rate> rates = {};  // by function
    std::set<uint16_t> without = {};      // functions that were dropped
  };
  struct Probed {
    const Observed* what;
    ProbedLibrary library;
  };
  struct Mapping {
    const Observed* what;
    File file;
    std::string range, path;
  };
  struct Process {
    std::string size;       // of its memory, from /proc/PID/statm; empty: its mappings must be read
    uint64_t since_ns = 0;  // time of the first scan
    std::map<File, Probed> libraries;
    std::set<File> met;
  };
  // What run.json records about a library in a process.
  struct Found {
    const Observed* what = nullptr;
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
  void read_rate(Observed& observed, const LibraryCall& call, double seconds);
  void detach(Observed& observed, uint16_t number);
  [[nodiscard]] const Observed* library_of(std::string_view path) const;
  void forget(uint32_t pid);
  void find_all_now();

  std::vector<Observed> observed_;  // filled by the constructor alone: pointers lead into it
  Reach reach_;
  std::function<void()> between_;
  std::function<void(uint32_t, std::string_view, uint64_t)> on_mappings_;
  int cgroup_ = -1;
  bool follows_system_ = false, is_beginning_ = false;
  std::set<uint32_t> asked_for_;  // requested processes and their children, while they live
  std::map<uint32_t, Process> processes_;
  std::map<File, Probed> everywhere_;
  std::vector<uint32_t> to_scan_;  // processes left in this pass
  // Probes that wait for their release: leaving_, of processes that have ended or unmapped the library; detached_, of
  // functions that are called too often.
  std::vector<Link> leaving_;
  std::vector<std::pair<const Observed*, Link>> detached_;
  bool is_scanning_ = false;
  std::vector<mlrun_task> taken_meanwhile_;  // handled after the scan of a process, which they might remove
  struct {
    uint64_t took_ns = 0, next_ns = 0;
  } pass_;
  struct {
    uint64_t last_ns = 0, next_ns = 0;
  } rates_;  // times of reading the rates of calls
  struct {
    std::vector<Found> all;
    size_t left_out = 0;
  } found_;
  size_t put_off_ = 0;
};

}  // namespace mlrun::probes
