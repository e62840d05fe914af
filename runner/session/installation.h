// SPDX-License-Identifier: Apache-2.0
// Where the other parts of mlrun are: beside this program, in a build tree as in an installed prefix.
//
//   PREFIX/bin/mlrun  PREFIX/bin/mlrun-trace  PREFIX/bin/mlrun-bench-loops  PREFIX/bin/mlrun-probes
//   PREFIX/lib/libmlrun_preload.so  PREFIX/lib/libmlrun_cupti.so
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::launch {

struct Installation {
  std::string trace_program;    // mlrun-trace
  std::string preload_library;  // may not exist
  std::string bench_program;    // mlrun-bench-loops; likewise
  std::string probes_program;   // mlrun-probes; likewise
  std::string cupti_library;    // likewise
};
Installation find_installation();

// Fails, with what to do, when the library cannot be named in LD_PRELOAD: it is not there, or its path holds a blank or
// a colon.
Status check_preload_library(const std::string& path);

}  // namespace mlrun::launch
