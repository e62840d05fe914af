// SPDX-License-Identifier: Apache-2.0
// What /proc says about a process. Everything may be gone at any moment: then the answer is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlrun::collect {

struct ProcStat {
  uint32_t ppid = 0;
  uint64_t start_ticks = 0;  // start_boottime, in clock ticks
  bool ended = false;        // a zombie: nothing but its exit status is left
};
std::optional<ProcStat> read_proc_stat(uint32_t pid);

std::string read_comm(uint32_t pid, uint32_t tid);

// An executable mapping of a file.
struct Module {
  uint64_t start = 0, end = 0, file_offset = 0;
  std::string path;  // as the kernel writes it; "\012" stands for a newline
  bool operator==(const Module&) const = default;
};
std::vector<Module> read_modules(uint32_t pid);
std::vector<Module> parse_modules(const std::string& maps);

// Key and value of each line of /proc/PID/io.
std::vector<std::pair<std::string, uint64_t>> read_io(uint32_t pid);

// The same, as far as a process's own I/O is concerned. A zombie's are its totals, with those of the children that it
// waited for. Nothing: it has gone, or is another user's.
struct IoCounts {
  uint64_t rchar = 0, wchar = 0, syscr = 0, syscw = 0, read_bytes = 0, write_bytes = 0;
};
std::optional<IoCounts> read_io_counts(uint32_t pid);

// The path of the program that it runs; empty for a zombie.
std::string read_exe(uint32_t pid);

// Children of all its threads; empty where the kernel has no such file (CONFIG_PROC_CHILDREN).
std::vector<uint32_t> children_of(uint32_t pid);

// How it numbers itself, in its own pid namespace; 0: not known.
uint32_t innermost_pid_of(uint32_t pid);

// Seccomp filters that our own process runs under.
uint64_t own_seccomp_filters();

// Inode of a process's pid namespace, 0: not known. pid 0: our own.
uint64_t pid_namespace_of(uint32_t pid);

// Where a foreign pid namespace's process and thread stand in ours; 0: not found. Reads all of /proc: for namespaces
// only.
uint32_t find_host_pid(uint64_t pid_namespace, uint32_t pid_inside);
uint32_t find_host_tid(uint32_t host_pid, uint32_t tid_inside);

// Is there a process, other than ours, that was started with this "NAME=value" in its environment (or forked from one
// that was)? Also true while any process is in the middle of an exec, when nobody can tell.
bool environment_in_use(const std::string& variable);

// 1: on a processor, or in the run queue; 0: neither; -1: not known.
int thread_runs(uint32_t host_pid, uint32_t host_tid);

bool thread_exists(uint32_t host_pid, uint32_t host_tid);

// Names this boot of the machine: start ticks mean something only together with it.
std::string boot_id();

}  // namespace mlrun::collect
