// SPDX-License-Identifier: Apache-2.0
// Facts about a process from /proc. A process may end at any moment: the results are then empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mlrun::probes {

// The JSON text of struct mlrun_process_seen. Empty: the process has ended.
std::string process_text(uint32_t pid);

// Whether a thread of the process lives. A process whose first thread has ended is a zombie, but may have others.
bool lives(uint32_t pid);

// The folder in /proc of the process's first thread; if that thread has ended, of another one. Only the folder of a
// living thread has the facts of the whole process (memory, files, mounts). Empty: the process has ended.
std::string living_folder(uint32_t pid);

// The owner of the process's files in /proc: root if the process has, or had, rights beyond its user's. nullopt: it
// has ended.
std::optional<uint32_t> owner_of(uint32_t pid);

// The pid of a pidfd; 0: the process has ended.
uint32_t pid_of(int pidfd);

}  // namespace mlrun::probes
