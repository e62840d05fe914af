// SPDX-License-Identifier: Apache-2.0
// What the traced threads did in a window of time, from the tables of the trace: recorded calls, CUDA and cuFile calls,
// and the times off CPU that the kernel side recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runner/idle/gap_finder.h"
#include "runner/model/call_split.h"
#include "runner/model/trace_info.h"
#include "runner/util/result.h"

namespace mlrun::idle {

enum class Doing : uint8_t {
  kFile,     // a call on a file
  kChannel,  // a call that may wait for the other end of a pipe or socket
  kPoll,     // a wait until a pipe or socket is ready (poll, select, epoll)
  kLock,     // a wait for another thread
  kWait,     // any other wait, as a sleep or a wait for a child
  kSync,     // a wait for the GPU
  kCuda,     // another CUDA call
};

struct Activity : Stretch {
  int64_t call_id = 0;  // in table `call`; 0: none
  int64_t file_id = 0;
  Doing doing = Doing::kFile;
  bool writes = false;
  int32_t split = -1;          // index of its time split, for split(); -1: unknown
  std::string_view func = {};  // of a call: its name, a static string; empty: unknown
};

// A time in which a thread was off CPU.
struct Sleep : Stretch {
  int64_t wake_ns = 0;    // from then until its end in the run queue: it was woken, or at its start preempted
  int32_t waker_tid = 0;  // 0: unknown
};

// A write into a pipe or socket, or an accepted connection.
struct Message : Stretch {
  int32_t thread_id = 0;
};

class Activities {
 public:
  // Which tables to read besides `call` and gpu_api: `wait` and gpu_file.
  struct Recorded {
    bool kernel_side = false, gpu_files = false;
  };
  // Requires: `info` has processes, threads and files, and outlives this. `folder` contains tables/.
  Activities(std::string folder, const model::TraceInfo& info, Recorded recorded);

  // Replaces the content with the rows that overlap the window, at most kRowsMax of each kind.
  Status load(Stretch window);

  // These fill the content without tables (load() uses them, too). Requires: sort() before any query.
  void clear();
  void add_call(int32_t thread_id, const Activity& call) { calls_[thread_id].push_back(call); }
  void add_cuda(int32_t thread_id, const Activity& call) { cuda_[thread_id].push_back(call); }
  void add_gpu_file(int32_t thread_id, const Activity& call) { gpu_files_[thread_id].push_back(call); }
  void add_sleep(int32_t thread_id, const Sleep& sleep) { sleeps_[thread_id].push_back(sleep); }
  void add_message(int64_t file_id, const Message& message);
  // Registers a socket whose other end is on this machine.
  void add_local_socket(int64_t file_id);
  void sort();

  // In order of start; empty if there are none. The calls of one thread do not overlap, nor do its sleeps.
  [[nodiscard]] const std::vector<Activity>& calls(int32_t thread_id) const { return get(calls_, thread_id); }
  [[nodiscard]] const std::vector<Activity>& cuda(int32_t thread_id) const { return get(cuda_, thread_id); }
  [[nodiscard]] const std::vector<Activity>& gpu_files(int32_t thread_id) const { return get(gpu_files_, thread_id); }
  [[nodiscard]] const std::vector<Sleep>& sleeps(int32_t thread_id) const { return get(sleeps_, thread_id); }
  // Writes into a pipe or socket, and connections accepted there, in order of start.
  [[nodiscard]] const std::vector<Message>& messages(int64_t file_id) const { return get(messages_, file_id); }
  // Writes into any socket, and accepted connections, in order of start.
  [[nodiscard]] const std::vector<Message>& socket_messages() const { return socket_messages_; }
  [[nodiscard]] bool is_local_socket(int64_t file_id) const { return local_sockets_.contains(file_id); }
  [[nodiscard]] const model::CallSplit* split(const Activity& activity) const {
    return activity.split < 0 ? nullptr : &splits_[static_cast<size_t>(activity.split)];
  }
  [[nodiscard]] int64_t left_out() const { return left_out_; }

 private:
  static constexpr size_t kRowsMax = 2'000'000;
  template <typename Key, typename T>
  static const std::vector<T>& get(const std::unordered_map<Key, std::vector<T>>& from, Key key) {
    static const std::vector<T> kNone;
    const auto found = from.find(key);
    return found == from.end() ? kNone : found->second;
  }
  Status load_calls(Stretch window);
  // Calls add(thread, stretch, value of the column) for each row of a thread that overlaps the window.
  template <typename Column, typename Add>
  Status load_of_threads(const char* table, const char* column, Stretch window, Add add);
  Status load_cuda(Stretch window);
  Status load_gpu_files(Stretch window);
  Status load_sleeps(Stretch window);
  // Counts one more row of a kind; false: the limit is reached.
  bool has_room(size_t& rows);
  [[nodiscard]] model::FileKind kind(int64_t file_id) const;

  std::string folder_;
  const model::TraceInfo& info_;
  Recorded recorded_;
  std::unordered_map<int32_t, std::vector<Activity>> calls_, cuda_, gpu_files_;
  std::unordered_map<int32_t, std::vector<Sleep>> sleeps_;
  std::unordered_map<int64_t, std::vector<Message>> messages_;
  std::vector<Message> socket_messages_;
  std::unordered_set<int64_t> local_sockets_;  // file_id of the local sockets in all windows loaded so far
  std::vector<model::CallSplit> splits_;
  int64_t left_out_ = 0;
};

}  // namespace mlrun::idle
