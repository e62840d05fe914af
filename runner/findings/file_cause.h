// SPDX-License-Identifier: Apache-2.0
// Chooses the cause of the time in data files from how the files were used.
#pragma once

#include <string>

#include "runner/findings/context.h"

namespace mlrun::findings {

// Sets the context's times_over and most_read_path, if the file with most bytes read was read over several times.
void find_reread(Context& context, const std::string& folder);

// Sets Context::files and files_also. share_remote, share_device: shares of the time in files spent waiting for a server, for a device; share_device
// -1: not measured.
void decide_files(Context& context, double share_remote, double share_device);

}  // namespace mlrun::findings
