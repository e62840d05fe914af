// SPDX-License-Identifier: Apache-2.0
// What /proc says of a process. It may be gone at any moment: then the answer is empty.
#pragma once

#include <cstdint>
#include <string>

namespace mlrun::probes {

// JSON, as struct mlrun_process_seen has it. Empty: it has ended.
std::string process_text(uint32_t pid);

// A zombie lives as long as a thread of it does.
bool lives(uint32_t pid);

// 0: it has ended.
uint32_t pid_of(int pidfd);

std::string thread_name(uint32_t pid, const std::string& tid);

}  // namespace mlrun::probes
