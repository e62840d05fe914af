// SPDX-License-Identifier: Apache-2.0
// The kernel functions that are probed to record operations on files. Most are functions of file systems, which the
// kernel calls through pointers, so the compiler cannot inline them. `vfs_read` and its like are not probed: most kinds
// of reads bypass them.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kprobes/bpf/shared.h"

namespace mlrun::probes {

inline constexpr std::string_view kOpenFallback = "security_file_open";

struct FileFunction {
  uint32_t op;  // mlrun_file_op_kind, or MLRUN_FILE_COMPLETION
  mlrun_arguments arguments;
  std::string_view name;
  std::string_view module;        // the kernel module that may contain it
  std::string_view file_systems;  // types that use it, with blanks around each; empty: it serves all types
  bool is_fallback = false;       // probed only if no other function of its operation can be

  // False for the end of an asynchronous operation, which has no duration: only its entry is probed.
  [[nodiscard]] bool has_end() const { return arguments != MLRUN_ARGUMENTS_COMPLETION; }

  [[nodiscard]] bool has_iterator() const {
    return arguments == MLRUN_ARGUMENTS_ITERATOR || arguments == MLRUN_ARGUMENTS_GENERAL_ITERATOR;
  }

  [[nodiscard]] uint64_t cookie() const {
    return static_cast<uint64_t>(op) | static_cast<uint64_t>(arguments) << MLRUN_ARGUMENTS_SHIFT;
  }
};

// Types of file systems, as in /proc/PID/mountinfo but without the part after a dot: fuse for fuse.sshfs.
using FileSystemTypes = std::set<std::string>;
FileSystemTypes types_in(std::string_view mountinfo);
FileSystemTypes mounted_types();

// For tests: functions to treat as missing in this kernel, separated by commas. Ignored where mlrun-probes has rights
// that its caller lacks.
inline constexpr const char* kWithoutFunctionsVariable = "MLRUN_WITHOUT_FUNCTIONS";

// The functions that serve all file systems, and those of the types in `mounted`. A kernel may lack some of them.
std::vector<FileFunction> file_functions(const FileSystemTypes& mounted);

// Whether a file system of one of these types is mounted; each type has a blank on both sides.
bool is_mounted(std::string_view types);

// Types of file systems that are mounted from a device or a server.
FileSystemTypes served_types_in(std::string_view mountinfo);
FileSystemTypes mounted_served_types();
// True: files of this type are on a server or, like those of zfs, on devices that the file system's own threads use. No
// block event links a call to the requests that it waits for.
bool is_served_elsewhere(std::string_view type);
// Whether a function is attached that serves this type and not all types.
bool has_function_of(const std::string& type, const std::function<bool(std::string_view)>& is_attached);

// The operation's name in messages.
const char* file_op_name(uint32_t op);

}  // namespace mlrun::probes
