// SPDX-License-Identifier: Apache-2.0
// What /proc knows about a process. It may end at any moment: then the result is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mlrun::probes {

// JSON, as struct mlrun_process_seen has it. Empty: it has ended.
std::string process_text(uint32_t pid);

// A zombie lives as long as a thread of it does.
bool lives(uint32_t pid);

// The folder in /proc of its first thread, or, where that has ended before the others, of another thread: only a living
// thread's folder has the facts of the whole process (memory, files, mounts). Empty: it has ended.
std::string living_folder(uint32_t pid);

// The owner of the process's files in /proc: root where it has, or had, rights beyond its user's. nullopt: it has
// ended.
std::optional<uint32_t> owner_of(uint32_t pid);

// 0: it has ended.
uint32_t pid_of(int pidfd);

std::string thread_name(uint32_t pid, const std::string& tid);

}  // namespace mlrun::probes
