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
#include "runner/util/result.h"

namespace mlrun::probes {

class FunctionTypes;

// What is recorded besides the block layer.
struct Streams {
  bool wait = true;
  bool file_ops = true;
  bool file_calls = false;  // system calls may stand in for them, which slows every process of the machine
  bool syscalls = false;
  bool cuda = false;        // calls of libcuda
  bool stacks = false;      // of its allocations: who asked for them
  bool cufile = false;      // calls of libcufile
  bool torch = false;       // what PyTorch's allocator of GPU memory gives out
  uint32_t ring_bytes = 0;  // of each ring, a power of two, of pages; 0: as rings.h has it
  bool observes = false;    // processes that no library of ours is in: the kernel tells of their begin and end
  bool is_command = false;  // of those, a command that mlrun starts and not what runs already
  bool has_calls = true;    // a library in the processes tells of their calls on files
  mlrun_scope scope = MLRUN_SCOPE_FLAGGED;

  [[nodiscard]] bool any_library() const { return cuda || cufile || torch; }
};

// The reason of a program that belongs to no stream that is recorded.
constexpr std::string_view kNotAskedFor = "not asked for";

// What became of a program. `reason` is empty when it is attached.
struct ProgramState {
  std::string name, event, reason;
  bool replaced = false;           // another one does the same on this kernel
  std::string way = "tracepoint";  // of a file operation fentry or kprobe
  std::string why_kprobe = {};     // of a file operation, and not fentry
  int file_op = -1;                // which one; -1: it is an event of the kernel's
  bool is_of_file_calls = false;   // system calls that stand in for file operations
  // Of a function that was attached late: the file system that has it, and since when.
  std::string file_system = {};
  uint64_t since_ns = 0;
};

struct DeviceTotal {
  mlrun_device_key key{};
  mlrun_device_total total{};
};

// A program that the kernel did not run for an event, because it was running on that processor already.
struct SkippedProgram {
  std::string name;
  uint64_t times = 0;
};

// For tests: how many of each may be on their way at once before the next ones are counted as lost: bios, requests, asynchronous
// operations and requests to servers.
inline constexpr const char* kInFlightVariable = "MLRUN_IN_FLIGHT_MAX";
// For tests: of how many files the writer is kept, and of how many places of stacked devices what is on its way there.
inline constexpr const char* kKeptVariable = "MLRUN_KEPT_MAX";

class Probes {
 public:
  using Take = std::function<void(const void* record, size_t bytes)>;

  // Fails when the block layer cannot be followed; a program less is told of in programs(). `take` gets every record.
  static Result<std::unique_ptr<Probes>> load(const Streams& streams, Take take);
  ~Probes();
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;

  // From now on this process, and all that it starts; its own system calls from its next exec on. 0 or the errno.
  int follow(int pidfd);
  // No longer, from now on. Nothing where it has ended.
  void let_go(int pidfd);
  // All tasks in this cgroup and below. Requires: loaded with that scope; so does the next.
  int follow_cgroup(int folder);
  void follow_system();

  // File systems of these types are mounted now: the functions of those that were not before wait for attach_next(), which
  // attaches one and is false when none is left. `is_late`: their files may have been used meanwhile.
  void add_file_systems(const FileSystemTypes& mounted);
  bool attach_next(bool is_late);

  // Hands over what the rings hold, in order of time (ring_reader.h) and whole (whole_records.h).
  void drain();
  [[nodiscard]] const Rings& rings() const;

  // No event is recorded any more; what the rings hold can still be drained. Functions, of the kernel and of libraries, are
  // let go at the end only, since the kernel takes some milliseconds for each.
  void detach();
  // What is attached no longer is gone then, and the programs of functions go with these, one after the other. Requires: detach(),
  // and that nothing is asked of the programs any more.
  void unload();

  [[nodiscard]] const std::vector<ProgramState>& programs() const { return programs_; }
  // Why no file operation can be recorded; empty: some can.
  [[nodiscard]] const std::string& without_file_ops() const { return without_file_ops_; }
  // System calls that stand in for them.
  [[nodiscard]] const FileSyscalls& file_calls() const;
  [[nodiscard]] uint64_t untold_32bit_calls() const;           // on files, by followed processes
  [[nodiscard]] bool has_calls() const { return has_calls_; }  // of the processes, from a library in them
  [[nodiscard]] std::vector<DeviceTotal> devices() const;
  // Once for each process and system call.
  void for_each_syscall(const std::function<void(const mlrun_syscall_sum&)>& take) const;
  // Requires: loaded with calls of that library; this outlives what is attached.
  [[nodiscard]] LibraryPrograms cuda_programs() const;
  [[nodiscard]] LibraryPrograms cufile_programs() const;
  [[nodiscard]] LibraryPrograms torch_programs();
  // Processes that were followed until they executed a program that is not their user's to look at.
  [[nodiscard]] uint64_t let_go_at_exec() const;
  // Since they were loaded, for whatever process.
  [[nodiscard]] std::vector<SkippedProgram> skipped() const;
  // Bios of followed processes whose completion was not seen so far.
  [[nodiscard]] uint64_t open_bios() const;
  // Records of file operations that could not be made whole (whole_records.h).
  [[nodiscard]] uint64_t unknown_operations() const;
  // Of struct mlrun_probe_loss, for each processor, kind and reason (bpf/shared.h).
  [[nodiscard]] const MappedArray& losses() const;

 private:
  struct State;
  struct Trial;  // what was recorded of the operations that are tried
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
  int follow(int pidfd, uint32_t how);  // enum mlrun_following

  std::unique_ptr<State> state_;
  bool has_syscalls_ = false;
  bool observes_ = false, is_command_ = false, has_calls_ = true;  // as Streams has it
  std::vector<ProgramState> programs_;
  std::string without_file_ops_;
  std::string refused_fentry_;  // by this kernel's verifier, when the programs were loaded before
  bool loads_fentry_ = false;
  std::string without_fentry_;  // why
};

}  // namespace mlrun::probes
