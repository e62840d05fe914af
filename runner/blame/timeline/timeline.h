// SPDX-License-Identifier: Apache-2.0
// What each thread of a trace did: its waits one by one, its other calls as sums over short stretches of time, its messages on pipes and sockets, its
// Python stack samples. Memory grows with the waits, the messages and the length of the run, not with the number of calls.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/model/rows.h"
#include "runner/model/threads_by_tid.h"

namespace mlrun::blame {

using Ns = int64_t;

inline constexpr Ns kPollsApartNs = 300'000;  // sleeps with a longer pause between them are not one polling loop

enum class WaitKind : uint8_t {
  kPoll,          // poll, select: until a descriptor is ready
  kLock,          // on a semaphore, condition, futex or barrier
  kChild,         // for the end of a process or thread
  kSleep,         // for a given time
  kFileLock,      // flock, lockf, fcntl; or a sleep before the lock is tried again
  kConnection,    // accept, connect
  kChannelRead,   // a read of a pipe or socket that blocked
  kChannelWrite,  // a write into a full pipe or socket
  kOther,         // for example for a signal
};

struct Wait {
  Ns start_ns = 0, end_ns = 0;
  int64_t call_id = 0;
  int64_t file_id = 0;   // of the call's descriptor; 0: none, or unknown
  int64_t argument = 0;  // the call's arg2: an address, pid or timeout
  int64_t ret = 0;
  int32_t err = 0;
  int32_t fd = 0;
  int32_t poster = 0;  // thread that ended the wait, as that thread recorded itself; 0: unknown
  WaitKind kind = WaitKind::kOther;
  bool joins_thread = false;  // of kChild: for the end of a thread
  bool accepts = false;       // of kConnection: accept, not connect
  bool condition = false;     // of kLock: pthread_cond_*wait
  bool timed = false;         // of a condition: with a time limit
  bool polls = false;         // of kSleep: one of several in a row with hardly anything in between

  [[nodiscard]] Ns dur_ns() const { return end_ns - start_ns; }
  // Whether this is a poll that returned without an event after hardly any waiting.
  [[nodiscard]] bool asks() const { return kind == WaitKind::kPoll && ret == 0 && dur_ns() < kPollsApartNs; }
};

// A read of a pipe or socket; short ones are kept, too.
struct Read {
  Ns start_ns = 0, end_ns = 0;
  int64_t file_id = 0;
  int64_t bytes = 0;
};

// A write into a pipe or socket.
struct Message {
  Ns start_ns = 0, end_ns = 0;
  int32_t thread_id = 0;
  int64_t bytes = 0;
};

// One sample of a thread's Python stack, or several in a row of a thread that slept at one place.
struct StackSample {
  Ns start_ns = 0, end_ns = 0;
  int32_t count = 1;
  int32_t stack_id = 0;
  int8_t running = -1;   // 1: on a processor or in the run queue; 0: asleep; -1: unknown
  bool in_call = false;  // the first sample was inside a recorded call that is not a wait
};

// What the scheduler counted for a thread in an interval, from /proc.
struct Usage {
  Ns start_ns = 0, end_ns = 0;
  Ns run_ns = 0, queued_ns = 0, user_ns = 0, system_ns = 0;
  int64_t major_faults = 0;
  // Shares of the time outside of recorded waits and calls: in the run queue, in page faults that read from a device, asleep for another reason (a
  // mutex of libc, a barrier of OpenMP), in the kernel.
  double queued = 0, faulting = 0, asleep = 0, in_kernel = 0;
  double calls_asleep = -1;  // share of the time in recorded calls that are not waits; -1: unknown
};

// One time of a thread off the processor, from the kernel tables.
struct Sleep {
  Ns start_ns = 0, wake_ns = 0, end_ns = 0;
  int32_t waker_tid = 0;
  bool for_device = false;  // it waited for I/O, or in uninterruptible sleep
  bool preempted = false;
};

enum class CallGroup : uint8_t { kNames, kRead, kWrite, kSync, kChannel, kOther };
inline constexpr size_t kCallGroups = 6;
// The states in which a call on files is off the processor, from the kernel tables. For the rest of the call it is on a processor.
enum class CallState : uint8_t { kRunQueue, kDevice, kRemote, kWait };
inline constexpr size_t kCallStates = 4;

struct CallSums {
  std::array<double, kCallGroups> group_ns{};
  std::array<double, kCallStates> state_ns{};

  [[nodiscard]] double total_ns() const;
};

// The calls of one thread that are not waits, summed up in bins of at most `width_ns`; a longer call has a bin of its own.
class CallBins {
 public:
  // Requires: calls in order of their start. Time that overlaps an earlier call is not counted again.
  void add(Ns start_ns, Ns end_ns, CallGroup group, const std::array<Ns, kCallStates>& states, Ns width_ns);
  // Adds to the last call's bin that it opened a data file for reading, or read this many bytes of one.
  void note_data(bool opens, int64_t bytes);
  // Time in calls in [a_ns, b_ns). A bin that lies only partly inside counts by that part.
  [[nodiscard]] CallSums sums(Ns a_ns, Ns b_ns) const;
  [[nodiscard]] size_t size() const { return bins_.size(); }

  struct Bin {
    Ns start_ns = 0, end_ns = 0;
    std::array<float, kCallGroups> group_ns{};
    std::array<float, kCallStates> state_ns{};
    uint32_t data_opens = 0;
    float data_bytes = 0;
  };
  [[nodiscard]] const std::vector<Bin>& bins() const { return bins_; }

 private:
  std::vector<Bin> bins_;
};

// How a thread used regular files, folders and files of unknown kind, without modules and shared memory.
struct FileUse {
  // small: below 16 KiB. jumps: reads that did not start where the last one ended. The first of another open file is one unless it is at 0.
  int64_t reads = 0, read_bytes = 0, small_reads = 0, jumps = 0;
  int64_t opens = 0, names = 0, maps = 0;  // names: stat and similar calls
  int64_t writes = 0, written_bytes = 0, syncs = 0;
  Ns names_ns = 0, read_ns = 0, direct_ns = 0;

  void add(const FileUse& other);
};

struct Thread {
  int32_t thread_id = 0, proc_id = 0, tid = 0;
  Ns first_ns = 0, last_ns = 0;
  std::string comm;
  std::vector<Wait> waits;           // by start, none overlap
  std::vector<Read> reads;           // by start
  std::vector<StackSample> samples;  // by start
  std::vector<Sleep> sleeps;
  std::vector<Usage> usage;  // by start
  CallBins calls;
  FileUse files;

  [[nodiscard]] Ns life_ns() const { return last_ns - first_ns; }
  // The first wait that ends after the moment; waits.size() if there is none.
  [[nodiscard]] size_t first_wait(Ns moment_ns) const;
  [[nodiscard]] size_t first_sample(Ns moment_ns) const;  // at or after
};

struct Process {
  int32_t proc_id = 0, pid = 0, parent = 0, rank = -1;
  std::string role, command;
  bool forked = false;
  Ns first_ns = 0, last_ns = 0;
  int32_t main = 0;  // the main thread
  std::vector<int32_t> threads;
  int64_t python_lock = 0;  // address of the condition that guards Python's lock (GIL); 0: none

  // A process of multiprocessing itself: it sends numbers of processes but no batches, and does not train.
  [[nodiscard]] bool is_helper() const { return role == "fork server" || role == "resource tracker"; }
};

struct Frame {
  std::string function, source;
  int32_t line = 0;
};

struct FileTotals {
  int64_t reads = 0, bytes = 0, end_offset = 0;  // end_offset: the end of the read that reached furthest
};

// The writes of one thread into one open file, from its opening to its closing.
struct Saving {
  Ns start_ns = 0, end_ns = 0;
  int64_t bytes = 0, file_id = 0;
  int64_t syncs = 0, writes = 0;
  std::vector<std::pair<Ns, Ns>> bursts = {};  // from the first write to the sync after it
  Ns unsynced_ns = 0;                          // the first write since the last sync; 0: none
  bool appends = false;                        // opened to append

  // Whether this is a log: few bytes between two syncs. A file that is opened again for each line has only one sync.
  [[nodiscard]] bool is_log() const {
    constexpr int64_t kMostBytes = 65'536;
    return (syncs > 1 || (appends && syncs == 1)) && bytes / syncs < kMostBytes;
  }
};

// How far a loop's iterator had got when its thread's stack was sampled (runner/samplers/python/loop_reader.h).
struct LoopSight {
  Ns ts_ns = 0;
  uint64_t object = 0;  // address of the iterator
  int64_t position = 0, total = 0;
  int32_t place = 0;       // number in Loops::places
  bool is_loader = false;  // a DataLoader's iterator: it has no position
  bool runs = false;       // a generator that is running holds the iterator
};

struct Loops {
  std::unordered_map<int32_t, std::vector<LoopSight>> sights;  // by thread, by time
  std::vector<std::string> places;
};

struct Timeline {
  Ns start_ns = 0, end_ns = 0;                                 // the run
  std::vector<Thread> threads;                                 // by thread_id; [0] is unused
  std::vector<Process> processes;                              // by proc_id
  std::unordered_map<int64_t, std::vector<Message>> messages;  // by file_id; each list by start
  std::unordered_map<int64_t, int64_t> peers;                  // by file_id of a socket: file_id of its other end
  std::unordered_map<int32_t, std::vector<Frame>> stacks;      // by stack_id; innermost frame first
  model::ThreadsByTid threads_by_tid;
  std::unordered_map<int64_t, FileTotals> data_files;
  std::unordered_map<int32_t, std::vector<Saving>>
      savings;  // by thread: files that it wrote, one entry for each time a file was open
  std::unordered_map<int32_t, std::vector<std::pair<Ns, Ns>>>
      module_calls;                 // by thread: times of calls on modules; calls near each other are joined
  std::vector<uint8_t> file_kinds;  // model::FileKind by file_id
  Loops loops;
  bool has_kernel_side = false, has_samples = false, has_posts = false, has_usage = false;
  bool has_ranks_elsewhere = false;  // the run has ranks that this trace lacks
  Ns bin_ns = 0;                     // the width of the bins in which calls that are not waits are summed up
  int64_t left_out = 0;              // rows that were dropped because of the limits of the loader

  [[nodiscard]] model::FileKind kind(int64_t file_id) const;
  [[nodiscard]] const Thread& thread(int32_t thread_id) const { return threads[static_cast<size_t>(thread_id)]; }
  [[nodiscard]] const Process& process(int32_t proc_id) const { return processes[static_cast<size_t>(proc_id)]; }
  [[nodiscard]] const Process& process_of(int32_t thread_id) const { return process(thread(thread_id).proc_id); }
  [[nodiscard]] const std::vector<Message>* find_messages(int64_t file_id) const;
  [[nodiscard]] int64_t peer(int64_t file_id) const;  // 0: unknown
  // Whether the wait is for the lock (GIL) of the process's Python interpreter.
  [[nodiscard]] bool is_python_lock(int32_t proc_id, const Wait& wait) const;
};

}  // namespace mlrun::blame
