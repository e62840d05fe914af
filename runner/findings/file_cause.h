// SPDX-License-Identifier: Apache-2.0
// Which cause the time in data files has, by how they were used.
#pragma once

#include <string>

#include "runner/findings/context.h"

namespace mlrun::findings {

// Finds the file that was read over most often.
void find_reread(Context& context, const std::string& folder);

// Sets Context::files and files_also. Shares: of the time in files; share_device: -1 where it was not counted.
void decide_files(Context& context, double share_remote, double share_device);

}  // namespace mlrun::findings
