// SPDX-License-Identifier: Apache-2.0
// Finds libcuda in the processes that are followed, and has its calls probed there: in each such process alone, or, where
// everybody is followed, in each copy of the library. Looks at /proc again and again, since a process may load it later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "kprobes/bpf/shared.h"
#include "kprobes/cuda_library.h"
#include "runner/events/kernel_record.h"

namespace mlrun::probes {

class CudaWatch {
 public:
  // `between` is called between one process and the next.
  CudaWatch(const CudaPrograms& programs, mlrun_scope scope, std::function<void()> between);

  // Each looks at once, so that what is done after it is seen.
  void follow(uint32_t pid);
  void follow_cgroup(int folder);  // stays open
  void follow_system();

  // Of a followed process.
  void take(const mlrun_task& task);

  // For a few milliseconds, or as long as the probes of one library take to be attached, and for at most a tenth of our
  // time.
  void look(uint64_t now_ns);

  // How many functions of how many libraries are probed now.
  [[nodiscard]] bool has_found_any() const { return !told_.empty(); }
  // Which libraries were met, and which functions were let go.
  [[nodiscard]] nlohmann::json describe() const;

 private:
  using File = std::pair<std::string, std::string>;  // device and inode, as /proc/PID/maps has them
  struct Mapping {
    File file;
    std::string range, path;
  };
  struct Process {
    std::string size;       // of its memory; empty: not looked at yet
    uint64_t since_ns = 0;  // when it was looked at first
    std::map<File, CudaLibrary> libraries;
    std::set<File> met;
  };
  // What run.json says of a library in a process.
  struct Told {
    uint32_t pid = 0;
    std::string path, reason;
    uint64_t at_ns = 0;
    bool was_there = false;   // when the observation began
    bool was_probed = false;  // in whatever process maps it, before this one did
    size_t functions = 0;
  };
  struct Rate {
    uint64_t calls = 0;  // when it was looked at last
    uint64_t per_second = 0, let_go_ns = 0;
  };
  void begin_pass();
  void look_at(uint32_t pid);
  void look_at_mappings(uint32_t pid, Process& process);
  void attach(uint32_t pid, Process& process, const Mapping& mapping);
  void look_at_rates(uint64_t now_ns);
  void let_go(uint16_t number);
  void forget(uint32_t pid);
  void find_all_now();

  CudaPrograms programs_;
  mlrun_scope scope_;
  std::function<void()> between_;
  int cgroup_ = -1;
  bool follows_system_ = false, is_beginning_ = false;
  std::set<uint32_t> asked_for_;  // and their children, while they live
  std::map<uint32_t, Process> processes_;
  std::map<File, CudaLibrary> everywhere_;
  std::vector<uint32_t> to_look_at_;  // of this pass
  // Of processes that have ended, and of functions that are called too often.
  std::vector<CudaLibrary::Link> leaving_, let_go_;
  uint64_t pass_began_ns_ = 0, pass_took_ns_ = 0, next_pass_ns_ = 0, next_rates_ns_ = 0, rates_ns_ = 0;
  std::vector<Told> told_;
  size_t not_told_ = 0, put_off_ = 0;
  std::map<uint16_t, Rate> rates_;
  std::set<uint16_t> without_;
};

}  // namespace mlrun::probes
