// SPDX-License-Identifier: Apache-2.0
// The environment that the command and all its descendants inherit.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runner/launch/program_file.h"

namespace mlrun::launch {

// LD_PRELOAD with our library first, but after a sanitizer's runtime, which requires to be first. Other
// entries keep their order; other copies of our library are removed. `runtime` (may be empty): of the sanitizer that
// the program is built with, added unless the list has one; the empty entry after it makes our library remove it for
// children.
std::string preload_value(std::string_view existing, const std::string& library, const std::string& runtime);

// "NAME=value" strings: `environment` (null-terminated) with LD_PRELOAD and MLRUN_SESSION set for this program, and the
// library as NVTX handler unless there is another one; without these if the library cannot be loaded into it. Without a
// library only the session is set. `gpu_library` (may be empty) is preloaded after the library, and is set as CUDA's
// injection library unless there is another one. `placement_library` (may be empty) is preloaded after both, also
// without a library.
std::vector<std::string> traced_environment(char** environment, const std::string& library, const std::string& session,
                                            const ProgramFile& program, const std::string& gpu_library = {},
                                            const std::string& placement_library = {});

// Another tool's CUDA injection library, with which GPU work cannot be recorded; "": none, or ours.
std::string other_cuda_injection(char** environment);

// The environment without our parts of these variables.
std::vector<std::string> untraced_environment(char** environment);

// Variables by name, as text, with secrets masked (runner/util/secrets.h) except for those named in `kept`.
std::map<std::string, std::string> shown_environment(char** environment, const std::vector<std::string>& kept = {});

}  // namespace mlrun::launch
