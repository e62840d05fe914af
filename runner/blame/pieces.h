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

// What the thread at the end of the chain was doing. That is the driver itself if it did not wait.
enum class Label : uint8_t {
  kCpu,     // in no recorded call
  kImport,  // in no recorded call, while it imports: by its Python stack, or without samples by its calls on modules
  kCheckpoint,
  kSerialise,  // pickling and handing over
  kLoader,
  kLogging,
  kOtherCall,  // in a call that has no file: fork, mmap
  kNames,      // in a call on a file's name or descriptor: open, stat, close
  kRead,
  kWrite,
  kSync,
  kChannel,      // a short call on a pipe or socket
  kWorkerStart,  // a worker before its first task
  kWorkerEnd,    // waiting for the end of a process or thread
  kPythonLock,
  kSleep,
  kTimer,  // in a poll that timed out
  kFileLock,
  kTransfer,  // writing into a full pipe
  kIdle,      // in a wait for a thread that itself waits for this one, perhaps through others
  kWait,      // in a wait for an unknown thread
  kPageFault,
  kKernel,  // in kernel mode, in no recorded call: page faults without a device, freeing of memory
  kAsleep,  // asleep, in no recorded call
};

inline constexpr int32_t kNoLine = -1;
inline constexpr int32_t kUnseenLine = -2;  // no sample fell into the piece: Divider::share_unseen gives it a line

struct Piece {
  Ns start_ns = 0, end_ns = 0;
  double weight = 1;  // below 1 if several threads share the stretch
  Top top = Top::kOwn;
  Label label = Label::kCpu;
  summary::State state = summary::State::kOnCpu;
  Link link = Link::kOwn;
  uint8_t hops = 0;
  bool shared_line = false;  // no sample fell into the piece: its line is a guess
  bool by_loader = false;    // a call, wait or page fault of the driver, made by code that loads data
  bool for_workers = false;  // the driver prepares workers: it makes their data set, pickles for them, or forks
  bool in_long = false;      // part of a long stretch in which the driver does not wait
  int32_t thread_id = 0;     // the thread at the end of the chain
  int32_t line = kNoLine;    // number in Lines
  int64_t file_id = 0;       // the file that the driver waited on
  int64_t argument = 0;      // address of the lock that the driver waited on
  int32_t first_thread = 0;  // the first thread of the chain: the driver waited for it directly
  // Socket that the thread at the end of the chain waits on, if no recorded process has the other end.
  int64_t away_file_id = 0;

  [[nodiscard]] double ns() const { return static_cast<double>(end_ns - start_ns) * weight; }
};

// Numbers each distinct text. A Piece refers to its line by this number.
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
