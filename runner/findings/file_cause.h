// SPDX-License-Identifier: Apache-2.0
// Chooses the cause of the time in data files from how the files were used.
#pragma once

#include <string>

#include "runner/findings/context.h"

namespace mlrun::findings {

// Sets the context's times_over and most_read_path, if the file with most bytes read was read over several times.
void find_reread(Context& context, const std::string& folder);

// Shares of the time in data files.
struct FileShares {
  double remote = 0;   // waiting for a server
  double device = -1;  // waiting for a device; -1: not measured
  double cpu = 0;      // on a processor or waiting for one, if `device` is measured
};

// Sets Context::files and files_also.
void decide_files(Context& context, const FileShares& shares);

}  // namespace mlrun::findings
