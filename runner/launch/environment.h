// SPDX-License-Identifier: Apache-2.0
// The environment that the command and all its descendants inherit.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runner/launch/program_file.h"

namespace mlrun::launch {

// LD_PRELOAD with our library first, but behind an address sanitizer's run-time, which insists on being first. Other
// entries stay, in their order; another copy of ours goes. `runtime` (may be empty): of a sanitizer that the program is built
// with, lent to it unless the list has one; the empty entry behind it tells our library to take it back.
std::string preload_value(std::string_view existing, const std::string& library, const std::string& runtime);

// "NAME=value" strings: `environment` (null-terminated) with both variables set for this program, and the library as the
// handler of NVTX unless there is another one; without them where the library cannot be loaded into it. Without a
// library only the session is set. `gpu_library` (may be empty) is preloaded behind the library, and CUDA's injection
// unless there is another one.
std::vector<std::string> traced_environment(char** environment, const std::string& library, const std::string& session,
                                            const ProgramFile& program, const std::string& gpu_library = {});

// The file that CUDA is told to load already, "" if none or ours: then GPU work cannot be recorded.
std::string other_cuda_injection(char** environment);

// The same without either variable's part of ours.
std::vector<std::string> untraced_environment(char** environment);

// Variables by name, as text, without secrets (runner/util/secrets.h) but for those named in `kept`.
std::map<std::string, std::string> shown_environment(char** environment, const std::vector<std::string>& kept = {});

}  // namespace mlrun::launch
