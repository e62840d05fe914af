// SPDX-License-Identifier: Apache-2.0
// Locates the other parts of mlrun relative to this program, in a build tree and in an installed prefix.
//
//   PREFIX/bin/mlrun  PREFIX/bin/mlrun-trace  PREFIX/bin/mlrun-bench-loops  PREFIX/bin/mlrun-probes
//   PREFIX/bin/mlrun-exchange  PREFIX/bin/mlrun-sweep  PREFIX/bin/mlrun-supervisor  PREFIX/bin/runs
//   PREFIX/lib/libmlrun_preload.so  PREFIX/lib/libmlrun_cupti.so  PREFIX/lib/libmlrun_placement.so  PREFIX/lib/python
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::session {

struct Installation {
  std::string trace_program;       // mlrun-trace
  std::string preload_library;     // may not exist
  std::string bench_program;       // mlrun-bench-loops; may not exist
  std::string probes_program;      // mlrun-probes; may not exist
  std::string cupti_library;       // may not exist
  std::string exchange_program;    // mlrun-exchange; may not exist
  std::string sweep_program;       // mlrun-sweep; may not exist
  std::string supervisor_program;  // mlrun-supervisor
  std::string mlrun_program;       // mlrun itself
  std::string python_folder;       // of the package mlrun_trace; may not exist: pip installs it elsewhere
  std::string placement_library;   // may not exist
  std::string python_program;      // python3, in an environment of Python; may not exist
};
Installation find_installation();

// Fails, with what to do, when the library is missing or its path contains a blank or a colon, which LD_PRELOAD cannot
// hold.
Status check_preload_library(const std::string& path);

}  // namespace mlrun::session
