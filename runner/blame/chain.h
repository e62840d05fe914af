// SPDX-License-Identifier: Apache-2.0
// Finds what the driver's time was spent on. A wait is followed to the thread that ended it, to the thread which that one waited for, and so on, at
// most six hops. A thread that does not wait is divided by its calls, its samples, and the kernel tables or else the scheduler's counts.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/blame/pieces.h"
#include "runner/blame/stack_kinds.h"
#include "runner/blame/timeline/timeline.h"
#include "runner/blame/wait_ends.h"

namespace mlrun::blame {

class Chain {
 public:
  Chain(const Timeline& timeline, WaitEnds& ends, StackKinds& kinds, Lines& lines);

  // Adds pieces for a stretch in which the driver is in no wait.
  void own(int32_t driver, Ns a_ns, Ns b_ns, std::vector<Piece>& pieces);
  // Adds pieces for a wait of the driver, or for the part of it from a_ns to b_ns.
  void wait(int32_t driver, const Wait& wait, Ns a_ns, Ns b_ns, Top top, std::vector<Piece>& pieces);
  // Adds pieces for what a thread did in a stretch. Its waits are followed, too.
  void follow(int32_t thread_id, Ns a_ns, Ns b_ns, std::vector<Piece>& pieces);

  [[nodiscard]] bool is_worker(int32_t proc_id) const;
  // Whether the thread belongs to a command: a program that the driver ran for a short time.
  [[nodiscard]] bool is_command(int32_t driver, int32_t thread_id) const;
  // Share of the thread's time on a processor, outside of recorded calls, that it spent in kernel mode.
  [[nodiscard]] double share_in_kernel(int32_t thread_id, Ns a_ns, Ns b_ns) const;
  // When a worker process had read its first task; 0: never.
  [[nodiscard]] Ns ready_ns(int32_t proc_id) const { return ready_ns_[static_cast<size_t>(proc_id)]; }
  // The Python line that a running thread of the same process, other than `thread_id`, executes then: that thread probably holds Python's lock (GIL).
  [[nodiscard]] int32_t line_of_holder(int32_t proc_id, int32_t thread_id, Ns moment_ns);
  [[nodiscard]] int32_t line_near(int32_t thread_id, Ns moment_ns);
  // The kind of the sampled stack nearest to the moment; kOwn if no sample is near.
  [[nodiscard]] StackKind kind_near(int32_t thread_id, Ns moment_ns);
  // Whether the sample nearest to the moment is in code that makes an object or starts a process.
  [[nodiscard]] bool makes_near(int32_t thread_id, Ns moment_ns);

 private:
  // State of one walk along a chain of waits.
  struct Path {
    std::vector<Piece>* pieces = nullptr;
    Top top = Top::kOwn;
    Link link = Link::kOwn;
    uint8_t hops = 0;
    double weight = 1;
    int64_t file_id = 0, argument = 0;  // file and lock address of the driver's wait, where the walk began
    std::vector<int32_t> seen = {};
  };
  struct UsageShares {
    double queued = 0, faulting = 0, asleep = 0, in_kernel = 0;  // shares of the time in no recorded wait or call
    double calls_asleep = 0, known = 0;  // share of the time in calls; share of the stretch for which that is known
  };
  static UsageShares usage_in(const Thread& thread, Ns a_ns, Ns b_ns);
  struct PartOfSample {
    const StackSample* sample;
    Ns ns;
  };
  static void put(const Path& path, Ns a_ns, Ns b_ns, Label label, int32_t thread_id, int32_t line,
                  summary::State state);
  void find_ready();
  Ns before_it_ran(int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path);
  void stretch(int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path);
  void in_wait(int32_t thread_id, const Wait& wait, Ns a_ns, Ns b_ns, const Path& path);
  bool in_python_lock(int32_t thread_id, const Wait& wait, Ns a_ns, Ns b_ns, const Path& path);
  void follow_all(const std::vector<int32_t>& who, Link link, int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path);
  void sleep(int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path);
  struct OffProcessor {
    double asleep_ns = 0, queued_ns = 0, fault_ns = 0;
    double in_kernel = 0;  // share of the remaining time, which is on a processor
    bool knows_sleep = false;
  };
  [[nodiscard]] OffProcessor off_processor(const Thread& thread, Ns a_ns, Ns b_ns, double rest_ns) const;
  [[nodiscard]] bool mostly_loads(const std::vector<PartOfSample>& samples);
  void put_samples(int32_t thread_id, Ns a_ns, Ns b_ns, const std::vector<PartOfSample>& samples, summary::State state,
                   const OffProcessor& off, const Path& path);
  void leaf(int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path);
  Ns put_calls(int32_t thread_id, Ns a_ns, Ns b_ns, const CallSums& sums, const Path& path);
  [[nodiscard]] double share_of_loader(int32_t thread_id, Ns a_ns, Ns b_ns);
  [[nodiscard]] double share_of_loader(int32_t thread_id);
  [[nodiscard]] std::vector<PartOfSample> samples_in(const Thread& thread, Ns a_ns, Ns b_ns) const;
  [[nodiscard]] Label label_of(const StackSample& sample, const Path& path);
  [[nodiscard]] bool sends(int32_t thread_id) const;
  [[nodiscard]] int64_t away_socket(int32_t thread_id, const Wait& wait) const;

  const Timeline& timeline_;
  WaitEnds& ends_;
  StackKinds& kinds_;
  Lines& lines_;
  std::vector<Ns> ready_ns_;
  std::vector<uint8_t> sends_;  // by thread
  std::unordered_map<int32_t, double>
      loader_share_;  // by thread: share of its samples in calls that are in code that loads data
};

}  // namespace mlrun::blame
