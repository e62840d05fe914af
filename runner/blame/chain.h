// SPDX-License-Identifier: Apache-2.0
// Follows a wait to what the thread was doing that it waited for, at most six hops; and divides the time of a thread that
// does not wait.
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

  // How the driver spends a stretch in which it is in no wait.
  void own(int32_t driver, Ns a_ns, Ns b_ns, std::vector<Piece>& pieces);
  // A wait of the driver, or a part of it.
  void wait(int32_t driver, const Wait& wait, Ns a_ns, Ns b_ns, Top top, std::vector<Piece>& pieces);
  // What a thread did in a stretch, its waits followed.
  void follow(int32_t thread_id, Ns a_ns, Ns b_ns, std::vector<Piece>& pieces);

  [[nodiscard]] bool is_worker(int32_t proc_id) const;
  // A thread of a program that the driver ran for a short time.
  [[nodiscard]] bool is_command(int32_t driver, int32_t thread_id) const;
  // The share of time in kernel mode, while the thread is on a processor and in no recorded call.
  [[nodiscard]] double share_in_kernel(int32_t thread_id, Ns a_ns, Ns b_ns) const;
  // When a worker read its first task; 0: never.
  [[nodiscard]] Ns ready_ns(int32_t proc_id) const { return ready_ns_[static_cast<size_t>(proc_id)]; }
  // The line that another thread of the process runs at the moment: it has Python's lock.
  [[nodiscard]] int32_t line_of_holder(int32_t proc_id, int32_t thread_id, Ns moment_ns);
  [[nodiscard]] int32_t line_near(int32_t thread_id, Ns moment_ns);
  // Whether the sample nearest to the moment is in code that loads data.
  [[nodiscard]] StackKind kind_near(int32_t thread_id, Ns moment_ns);
  // Whether that sample is in code that makes an object or starts a process.
  [[nodiscard]] bool makes_near(int32_t thread_id, Ns moment_ns);

 private:
  // Where pieces go, and how far the chain has come.
  struct Path {
    std::vector<Piece>* pieces = nullptr;
    Top top = Top::kOwn;
    Link link = Link::kOwn;
    uint8_t hops = 0;
    double weight = 1;
    int64_t file_id = 0, argument = 0;  // of the driver's wait
    std::vector<int32_t> seen = {};
  };
  struct UsageShares {
    double queued = 0, faulting = 0, asleep = 0, in_kernel = 0;  // of the time in no recorded wait or call
    double calls_asleep = 0, known = 0;                          // of the time in calls; of the stretch
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
  void sleep(int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path);
  struct OffProcessor {
    double asleep_ns = 0, queued_ns = 0, fault_ns = 0;
    double in_kernel = 0;  // of the rest, which is on a processor
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
      loader_share_;  // by thread: of its samples in calls, those in code that loads data
};

}  // namespace mlrun::blame
