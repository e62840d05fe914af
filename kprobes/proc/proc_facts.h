// SPDX-License-Identifier: Apache-2.0
// What /proc says of a process. It may be gone at any moment: then the answer is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mlrun::probes {

// JSON, as struct mlrun_process_seen has it. Empty: it has ended.
std::string process_text(uint32_t pid);

// A zombie lives as long as a thread of it does.
bool lives(uint32_t pid);

// The folder in /proc of its first thread, or, where that has ended before the others, of one that has not: what belongs to
// the process as a whole (memory, files, mounts) is told there alone. Empty: it has ended.
std::string living_folder(uint32_t pid);

// The user whose process it is for the kernel: root's where it has, or had, rights beyond its user's. Nothing: it has ended.
std::optional<uint32_t> owner_of(uint32_t pid);

// 0: it has ended.
uint32_t pid_of(int pidfd);

std::string thread_name(uint32_t pid, const std::string& tid);

}  // namespace mlrun::probes
