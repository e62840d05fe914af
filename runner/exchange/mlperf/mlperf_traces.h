// SPDX-License-Identifier: Apache-2.0
// The text files that the bpftrace scripts of mlperf-traces and tracing_tools print, with their columns, and those of mpstat, pmon,
// iostat, strace and ps beside them, so that preprocessing and plots made for these files keep working. A time stamp is the end of the
// call, in nanoseconds of CLOCK_MONOTONIC as bpftrace's `nsecs`; times of day are local.
#pragma once

#include "runner/util/result.h"

namespace mlrun::exchange {

class Export;

Status write_mlperf_traces(Export& job);

}  // namespace mlrun::exchange
