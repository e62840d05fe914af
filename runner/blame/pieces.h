// SPDX-License-Identifier: Apache-2.0
// Pieces of the driver's time: what it did, and which threads it waited for.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/blame/timeline/timeline.h"
#include "runner/blame/wait_ends.h"
#include "runner/summary/answer.h"

namespace mlrun::blame {

// What the driver itself was doing.
enum class Top : uint8_t { kOwn, kWaiting, kPythonLock, kSleep, kChild };

// What the thread at the end of the chain was doing; the driver itself, where it did not wait.
enum class Label : uint8_t {
  kCpu,     // in no recorded call
  kImport,  // the same, by its Python stack
  kCheckpoint,
  kSerialise,  // pickling and handing over
  kLoader,
  kLogging,
  kOtherCall,  // in a call that has no file: fork, mmap
  kNames,      // in a call on files: open, stat, close
  kRead,
  kWrite,
  kSync,
  kChannel,      // a short call on a pipe or socket
  kWorkerStart,  // a worker before its first task
  kWorkerEnd,    // the end of a process that was waited for
  kPythonLock,
  kSleep,
  kTimer,  // a poll that ran out of time
  kFileLock,
  kTransfer,  // writing into a full pipe
  kIdle,      // it waits for a thread that waits for it
  kWait,      // for an unknown thread
  kPageFault,
  kKernel,  // in the kernel, in no recorded call: page faults without a device, memory given back
  kAsleep,  // in no recorded call
};

inline constexpr int32_t kNoLine = -1;
inline constexpr int32_t kUnseenLine = -2;  // no sample fell in it: shared out later

struct Piece {
  Ns start_ns = 0, end_ns = 0;
  double weight = 1;  // several threads share a stretch
  Top top = Top::kOwn;
  Label label = Label::kCpu;
  summary::State state = summary::State::kOnCpu;
  Link link = Link::kOwn;
  uint8_t hops = 0;
  bool shared_line = false;  // no sample fell in it: the line is a guess
  bool by_loader = false;    // of a call, wait or page fault of the driver: made by loader code
  bool for_workers = false;  // the driver's own, to start workers: their data set, what is pickled for them, forks
  bool in_long = false;      // the driver's own, a part of a long stretch
  int32_t thread_id = 0;     // at the end of the chain
  int32_t line = kNoLine;    // in Lines
  int64_t file_id = 0;       // of what the driver waited on
  int64_t argument = 0;      // of a lock: its address
  int32_t first_thread = 0;  // of the chain: the one that the driver waited for itself
  int64_t away_file_id = 0;  // the socket that the thread at the end waits on, whose other end no recorded process has

  [[nodiscard]] double ns() const { return static_cast<double>(end_ns - start_ns) * weight; }
};

// Texts by number.
class Lines {
 public:
  int32_t number(const std::string& text) {
    if (text.empty()) return kNoLine;
    const auto [at, is_new] = numbers_.emplace(text, static_cast<int32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return at->second;
  }
  [[nodiscard]] const std::string& text(int32_t number) const {
    static const std::string kNone;
    return number < 0 ? kNone : texts_[static_cast<size_t>(number)];
  }

 private:
  std::unordered_map<std::string, int32_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace mlrun::blame
