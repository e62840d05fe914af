// SPDX-License-Identifier: Apache-2.0
// Samples the processes of the command and their threads, whether they record or not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/samplers/machine/process_counters.h"
#include "runner/samplers/machine/source.h"

namespace mlrun::machine {

class ProcessSource : public Source {
 public:
  static constexpr size_t kThreadsMax = 5000;  // of all processes; further threads are only in their process's rows

  explicit ProcessSource(Places places, size_t threads_max = kThreadsMax)
      : places_(std::move(places)), threads_max_(threads_max) {}
  void watch(const std::vector<uint32_t>& host_pids) override;
  void sample(uint64_t now_ns, Batch& batch) override;
  void sample_end(uint32_t host_pid, uint64_t now_ns, Batch& batch) override;
  uint64_t take_bounded_ns() override { return std::exchange(bounded_ns_, 0); }
  void finish(Batch& batch) override;
  [[nodiscard]] std::vector<std::string> problems() const override;
  [[nodiscard]] std::vector<std::string> remarks() const override;

 private:
  static constexpr uint32_t kDescriptorsMax = 384;  // of mlrun's descriptors (launch/own_limits.h)
  static constexpr size_t kFirstReadsMax = 64;      // threads that are read for the first time in one sample
  // How long a process is sampled that watch() does not name any more: one that executes a program without the library is named again
  // once a scan of /proc has found it: within 0.2 s, or later where scans would take more than 1/500 of a CPU.
  static constexpr uint64_t kUnnamedNs = 5'000'000'000;
  static constexpr uint64_t kQuietNs = 1'000'000'000;  // between two rows of a process none of whose threads ran

  struct Process {
    ProcessCounters counters;
    std::map<uint32_t, ProcessCounters> threads;
    uint64_t listed = 0;         // number of threads at the last listing
    uint64_t next_share_ns = 0;  // when its smaps_rollup may be read again; 0: not decided
    uint64_t unnamed_ns = 0;     // since when watch() does not name it; 0: it does
    bool has_share = false;      // its smaps_rollup was read
    bool has_ended = false;      // kept while watch() names the process, so that it is not taken for a new one
  };
  ProcessCounters make(uint32_t pid, uint32_t tid);
  Process& find_or_add(uint32_t pid);
  [[nodiscard]] bool has_unlisted(const Process& process) const;
  void list_threads(uint32_t pid, Process& process);
  bool sample_threads(Process& process, uint64_t now_ns, Batch& batch);
  bool sample_process(Process& process, uint64_t now_ns, Batch& batch);
  void remove(Process& process, std::map<uint32_t, ProcessCounters>::iterator thread);
  void end(Process& process, Batch& batch);
  Process* find_share_due(uint64_t now_ns);
  void list_all_threads();

  Places places_;
  size_t threads_max_;
  std::map<uint32_t, Process> processes_;  // by pid
  std::vector<uint32_t> wanted_;
  size_t threads_ = 0;
  size_t first_reads_ = 0;  // in this sample
  uint32_t descriptors_ = 0;
  uint32_t last_listed_ = 0;  // the pid with which the next listing of threads begins
  bool left_out_ = false;
  uint64_t without_rows_ = 0;     // threads of ended processes that had no turn
  size_t without_share_ = 0;      // processes that ended before their smaps_rollup was read
  Process* share_due_ = nullptr;  // whose smaps_rollup this sample reads
  uint64_t next_share_ns_ = 0;    // when any smaps_rollup may be read again
  uint64_t bounded_ns_ = 0;       // CPU time of reading them since the last take_bounded_ns()
};

}  // namespace mlrun::machine
