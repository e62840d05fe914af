// SPDX-License-Identifier: Apache-2.0
// Reads data of /proc about a process. If the process ends meanwhile, the result is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlrun::util {

struct ProcStat {
  uint32_t ppid = 0, session = 0;
  uint64_t start_ticks = 0;  // start time since boot (start_boottime), in clock ticks
  bool ended = false;        // a zombie
};
std::optional<ProcStat> read_proc_stat(uint32_t pid);
// The same for a folder in /proc.
std::optional<ProcStat> read_proc_stat_in(const std::string& folder);

std::string read_comm(uint32_t pid, uint32_t tid);

// An executable mapping of a file.
struct Module {
  uint64_t start = 0, end = 0, file_offset = 0;
  std::string path;  // as written by the kernel; "\012" is a newline
  bool operator==(const Module&) const = default;
};
std::vector<Module> read_modules(uint32_t pid);
std::vector<Module> parse_modules(const std::string& maps);

// Key and value of each line of /proc/PID/io.
std::vector<std::pair<std::string, uint64_t>> read_io(uint32_t pid);

// The counts of /proc/PID/io by name. They include the children that the process has waited for; those of a zombie are
// final. nullopt: the process has ended, or belongs to another user.
struct IoCounts {
  uint64_t rchar = 0, wchar = 0, syscr = 0, syscw = 0, read_bytes = 0, write_bytes = 0;
};
std::optional<IoCounts> read_io_counts(uint32_t pid);

// The path of the process's program; empty for a zombie.
std::string read_exe(uint32_t pid);

// Children of all threads of the process; empty if the kernel does not list them (CONFIG_PROC_CHILDREN).
std::vector<uint32_t> children_of(uint32_t pid);

// The process's pid in its own pid namespace; 0: unknown.
uint32_t innermost_pid_of(uint32_t pid);
uint32_t innermost_pid_in(const std::string& folder);

// Entries of a folder that are numbers, but for 0: of /proc, the processes. `open_error`: the errno if the folder cannot be opened.
std::vector<uint32_t> numbers_in(const std::string& folder, int* open_error = nullptr);

// Number of seccomp filters of our own process.
uint64_t own_seccomp_filters();

// Inode of a process's pid namespace; 0: unknown. pid 0: our own.
uint64_t pid_namespace_of(uint32_t pid);
// The same for a folder in /proc, such as /proc/PID/task/TID.
uint64_t pid_namespace_in(const std::string& folder);

// Translates ids of a process and thread of another pid namespace to those of mlrun's; 0: not found. To be called only
// for other namespaces, since all of /proc is read.
uint32_t find_host_pid(uint64_t pid_namespace, uint32_t pid_inside);
uint32_t find_host_tid(uint32_t host_pid, uint32_t tid_inside);

// Is there another process that was started with this "NAME=value" in its environment (or forked from one that was)?
// Also true while any process is in the middle of an exec, when its environment is unknown.
bool environment_in_use(const std::string& variable);

bool thread_exists(uint32_t host_pid, uint32_t host_tid);

// Identifies this boot of the machine: start ticks are only valid within it.
std::string boot_id();

}  // namespace mlrun::util
