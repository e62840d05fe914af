// SPDX-License-Identifier: Apache-2.0
// The functions of the kernel that are its operations on files. File systems have functions of their own, which are called
// through pointers and so are there whatever the compiler does; `vfs_read` and its like are not: most of the ways to read
// go past them.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kprobes/bpf/shared.h"

namespace mlrun::probes {

inline constexpr std::string_view kOpenStandIn = "security_file_open";

struct FileFunction {
  uint32_t op;  // mlrun_file_op_kind, or MLRUN_FILE_COMPLETION
  mlrun_arguments arguments;
  std::string_view name;
  std::string_view module;        // that it may be in
  std::string_view file_systems;  // types that have it, with blanks around each; empty: it serves all
  bool is_stand_in = false;       // probed where no other one of its operation tells

  // Its return says something.
  [[nodiscard]] bool has_end() const { return arguments != MLRUN_ARGUMENTS_COMPLETION; }

  [[nodiscard]] bool has_iterator() const {
    return arguments == MLRUN_ARGUMENTS_ITERATOR || arguments == MLRUN_ARGUMENTS_GENERAL_ITERATOR;
  }

  [[nodiscard]] uint64_t cookie() const {
    return static_cast<uint64_t>(op) | static_cast<uint64_t>(arguments) << MLRUN_ARGUMENTS_SHIFT;
  }
};

// Types of file systems, as /proc/PID/mountinfo has them; what is behind a dot (fuse.sshfs) is left out.
using FileSystemTypes = std::set<std::string>;
FileSystemTypes types_in(std::string_view mountinfo);
FileSystemTypes mounted_types();

// For tests: functions that this kernel counts as not having, with commas between. Not heard where mlrun-probes has rights that
// its caller has not.
inline constexpr const char* kWithoutFunctionsVariable = "MLRUN_WITHOUT_FUNCTIONS";

// Those that serve all file systems, and those of these. Not every kernel has all of them.
std::vector<FileFunction> file_functions(const FileSystemTypes& mounted);

// A file system of one of these types is mounted; blanks around each.
bool is_mounted(std::string_view types);

// Types of what is mounted from a device or from a server.
FileSystemTypes served_types_in(std::string_view mountinfo);
FileSystemTypes mounted_served_types();
// By a server, or, like zfs, by threads and devices of its own: nothing tells which of its requests a call waits for.
bool is_served_elsewhere(std::string_view type);
// One of the functions that are this type's own is attached.
bool has_function_of(const std::string& type, const std::function<bool(std::string_view)>& is_attached);

// In a person's words.
const char* file_op_name(uint32_t op);

}  // namespace mlrun::probes
