// SPDX-License-Identifier: Apache-2.0
// The BPF programs of this run: loaded and attached while this object lives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kprobes/attach/file_functions.h"
#include "kprobes/attach/file_syscalls.h"
#include "kprobes/bpf/shared.h"
#include "kprobes/libraries/probed_library.h"
#include "kprobes/rings/mapped_array.h"
#include "kprobes/rings/rings.h"
#include "runner/util/kernel_streams.h"
#include "runner/util/result.h"

namespace mlrun::probes {

class FunctionTypes;

// What is recorded in addition to block I/O.
struct Streams : util::KernelStreams {
  bool file_calls = false;  // allows the system-call fallback, which slows every process of the machine
  bool stacks = false;      // with calls of libcuda: stacks of its allocations
  uint32_t ring_bytes = 0;  // of each ring, a power of two and a multiple of the page size; 0: the default of rings.h
  bool observes = false;    // the processes lack libmlrun_preload.so: BPF programs report their start and end
  bool is_command = false;  // `observes` is set, and mlrun starts the processes as a command
  bool has_calls = true;    // libmlrun_preload.so in the processes records their calls on files
  mlrun_scope scope = MLRUN_SCOPE_FLAGGED;

  [[nodiscard]] bool any_library() const { return cuda || cufile || torch; }
};

// The reason of a program that belongs to no requested stream.
constexpr std::string_view kNotAskedFor = "not asked for";

// The state of a program. `reason` is empty when it is attached.
struct ProgramState {
  std::string name, event, reason;
  bool replaced = false;                 // not used: another program, or libmlrun_preload.so, has its task
  std::string mechanism = "tracepoint";  // for a file operation fentry or kprobe
  std::string why_kprobe = {};           // for a file operation by kprobe: why not by fentry
  int file_op = -1;               // the operation that it records (mlrun_file_op_kind); -1: none, as for a kernel event
  bool is_of_file_calls = false;  // belongs to the system-call fallback
  // For a function that was attached during the run: the file system type, and the time.
  std::string file_system = {};
  uint64_t since_ns = 0;
};

struct DeviceTotal {
  mlrun_device_key key{};
  mlrun_device_total total{};
};

// A program that the kernel skipped because it was already running on that processor.
struct SkippedProgram {
  std::string name;
  uint64_t times = 0;
};

// For tests: how many bios, block requests, asynchronous operations and requests to servers may each be in flight.
// Further ones are counted as lost.
inline constexpr const char* kInFlightVariable = "MLRUN_IN_FLIGHT_MAX";
// For tests: how many entries the maps `writers` (of files) and `places` (of bios of stacked devices) have.
inline constexpr const char* kKeptVariable = "MLRUN_KEPT_MAX";

class Probes {
 public:
  using Take = std::function<void(const void* record, size_t bytes)>;

  // Fails when the block layer cannot be recorded; any other missing program is listed in programs(). `take` gets every
  // record.
  static Result<std::unique_ptr<Probes>> load(const Streams& streams, Take take);
  ~Probes();
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;

  // Records this process and all that it starts. System calls of a command's process are counted from its exec on.
  // Returns 0 or an errno.
  int follow(int pidfd);
  // Stops recording the process. No effect after it has ended.
  void unfollow(int pidfd);
  // follow_cgroup records all tasks in this cgroup and below, follow_system all tasks. Requires: loaded with that
  // scope.
  int follow_cgroup(int folder);
  void follow_system();

  // File systems of these types are mounted now. Functions of new types are queued for attach_next(), which attaches
  // one and returns false when the queue is empty. `is_late`: their files may have been used meanwhile.
  void add_file_systems(const FileSystemTypes& mounted);
  bool attach_next(bool is_late);

  // Calls `take` for the records in the rings, ordered by time (ring_reader.h) and expanded (whole_records.h).
  void drain();
  [[nodiscard]] const Rings& rings() const;

  // Stops all recording; records in the rings can still be drained. Probes on functions of the kernel and of libraries
  // are released only in unload(), since the kernel takes some milliseconds for each.
  void detach();
  // Releases the detached programs, then those of functions one by one. Requires: detach() was called, and no program
  // is queried afterwards.
  void unload();

  [[nodiscard]] const std::vector<ProgramState>& programs() const { return programs_; }
  // Why file operations are not recorded by functions; empty: some can be.
  [[nodiscard]] const std::string& without_file_ops() const { return without_file_ops_; }
  // The system-call fallback for file operations.
  [[nodiscard]] const FileSyscalls& file_calls() const;
  [[nodiscard]] uint64_t unrecorded_32bit_calls() const;       // file calls of traced 32-bit programs
  [[nodiscard]] bool has_calls() const { return has_calls_; }  // Streams::has_calls
  [[nodiscard]] std::vector<DeviceTotal> devices() const;
  // Calls `take` once for each process and system call.
  void for_each_syscall(const std::function<void(const mlrun_syscall_sum&)>& take) const;
  // The programs for probes in a library. Requires: that library's stream (`Streams::cuda` ...) was on at the load; this object outlives the probes.
  [[nodiscard]] LibraryPrograms cuda_programs() const;
  [[nodiscard]] LibraryPrograms cufile_programs() const;
  [[nodiscard]] LibraryPrograms torch_programs();
  // Processes dropped because they executed a program that their user may not trace.
  [[nodiscard]] uint64_t unobserved_at_exec() const;
  // Programs that the kernel has skipped since the load, in any process.
  [[nodiscard]] std::vector<SkippedProgram> skipped() const;
  // Bios of traced processes whose completion has not been seen.
  [[nodiscard]] uint64_t open_bios() const;
  // Records of file operations that could not be made whole (whole_records.h).
  [[nodiscard]] uint64_t unknown_operations() const;
  // struct mlrun_probe_loss for each processor, kind and reason (bpf/shared.h).
  [[nodiscard]] const MappedArray& losses() const;

 private:
  struct State;
  struct Trial;  // numbers of records of the trial's operations
  Probes();
  Status open(const Streams& streams);
  Status map_arrays();
  Status attach();
  void choose_function_programs(const Streams& streams);
  void choose_library_programs(const Streams& streams);
  void attach_file_ops();
  void attach_file_calls();
  void attach_open_paths();
  Result<Trial> try_operations();
  Result<std::array<int, MLRUN_FILE_PURPOSES>> try_file_operations();
  int follow(int pidfd, uint32_t how);  // enum mlrun_observed_as

  std::unique_ptr<State> state_;
  bool has_syscalls_ = false;
  bool observes_ = false, is_command_ = false, has_calls_ = true;  // copied from Streams
  std::vector<ProgramState> programs_;
  std::string without_file_ops_;
  std::string refused_fentry_;  // why the verifier refused fentry programs in an earlier load; empty: it did not
  bool loads_fentry_ = false;
  std::string without_fentry_;  // why fentry is not used; empty: it is
};

}  // namespace mlrun::probes
