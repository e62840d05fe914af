// SPDX-License-Identifier: Apache-2.0
// A format that a trace is exported to: one file pair, and one line in the table of formats.cpp.
#pragma once

#include <span>
#include <string>

#include "runner/util/result.h"

namespace mlrun::exchange {

class Export;

struct Format {
  const char* name;        // --to
  const char* summary;     // for the help
  const char* usual_name;  // of the file or folder, for the examples: "trace.pftrace"
  // Writes all of it to job.output() (a file or a folder of that name, which it creates), and counts in job.account() each
  // row of the trace's tables as written or as left out, with the reason. Nothing of the output is kept after an error.
  Status (*write)(Export& job);
  bool can_split = false;  // writes a folder of several files where Export::split_bytes() wants it
};

[[nodiscard]] std::span<const Format> all_formats();
[[nodiscard]] const Format* find_format(const std::string& name);

}  // namespace mlrun::exchange
