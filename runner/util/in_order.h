// SPDX-License-Identifier: Apache-2.0
// Parallel work on items, with one step of each item done in the order of the items: every thread takes the next item,
// works on it, waits for its turn to hand it over, and finishes it. There is no queue: at most one item per thread is
// in memory.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::util {

class Turns {
 public:
  // Waits for the turn of item `index`. False: another thread failed, so the caller must stop.
  bool wait(size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || turn_ == index; });
    return !stopped_;
  }
  void pass() {
    const std::lock_guard lock(mutex_);
    ++turn_;
    changed_.notify_all();
  }
  // Ends the work of all threads; the first error is kept.
  void stop(Error error) {
    const std::lock_guard lock(mutex_);
    if (!stopped_) error_ = std::move(error);
    stopped_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  [[nodiscard]] Status status() {
    const std::lock_guard lock(mutex_);
    if (stopped_) return tl::make_unexpected(error_);
    return {};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t turn_ = 0;
  bool stopped_ = false;
  Error error_;
};

// For each index in [0, count): work(thread, index) on any thread; hand_over(thread, index) one at a time, in order;
// then finish(thread, index) on the thread that did the work. `thread` counts from 0 and selects the
// thread's storage for the item. All three return Status; stops at the first error.
template <typename Work, typename HandOver, typename Finish>
Status in_order(size_t count, unsigned threads, Work work, HandOver hand_over, Finish finish) {
  Turns turns;
  std::atomic<size_t> next{0};
  const auto do_one = [&](unsigned thread, size_t index) -> Status {
    if (auto worked = work(thread, index); !worked) return worked;
    if (!turns.wait(index)) return {};
    if (auto handed = hand_over(thread, index); !handed) return handed;
    turns.pass();
    return finish(thread, index);
  };
  const auto run = [&](unsigned thread) {
    try {
      for (size_t index = next++; index < count && !turns.stopped(); index = next++) {
        if (auto done = do_one(thread, index); !done) turns.stop(done.error());
      }
    } catch (const std::bad_alloc&) {
      turns.stop(Error{"out of memory"});
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned thread = 1; thread < threads && thread < count; ++thread) helpers.emplace_back(run, thread);
    run(0);
  }
  return turns.status();
}

}  // namespace mlrun::util
