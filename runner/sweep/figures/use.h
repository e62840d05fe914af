// SPDX-License-Identifier: Apache-2.0
// What the kernel counted of a run: of the command and the descendants that it waited for, without mlrun's own work.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <map>
#include <string>

#include "runner/util/result.h"

namespace mlrun::sweep {

struct Use {
  double wall_s = 0, user_s = 0, sys_s = 0;
  double max_rss_bytes = 0;
  double major_faults = 0, minor_faults = 0, input_blocks = 0, output_blocks = 0;  // blocks of 512 bytes
  double read_bytes = -1;                                                          // -1: unknown
  int wait_status = 0;
};

Use use_of(const rusage& usage);  // all but wall_s, read_bytes and wait_status
// What a finished trace used, from its run.json.
Result<Use> use_of_trace(const std::string& trace_folder);

// wall_s, user_s, sys_s, max_rss_bytes, major_faults, input_blocks, read_bytes.
void add_use(const Use& use, std::map<std::string, double>& figures);

// The text of time.log, as `time -o` of GNU writes it by default.
std::string time_log(const Use& use);

}  // namespace mlrun::sweep
