// SPDX-License-Identifier: Apache-2.0
// The files of one export to mlperf-traces, by the tables that they are made from. They count their rows in the account. A function
// with `missing` adds a line to it for a file that the trace has no rows for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::exchange {

class Export;

// trace_read.out, trace_write.out, trace_openat.out, trace_close.out, trace_create_del.out, strace.out.
Status write_call_files(Export& job);
// trace_bio.out.
Status write_block_file(Export& job, std::vector<std::string>& missing);
// cpu.out, gpu.out, iostat.json.
Status write_sample_files(Export& job, std::vector<std::string>& missing);
// app.log: MLLOG lines.
Status write_log_file(Export& job, std::vector<std::string>& missing);
// pids.out, pids.json, syscalls.out, trace_time_align.out.
Status write_process_files(Export& job, std::vector<std::string>& missing);

// A word of a line: white space and other bytes that split lines are written as \xNN.
[[nodiscard]] std::string one_word(std::string_view text);
[[nodiscard]] std::string base_name(std::string_view path);
// Local time of a moment, by strftime's format.
[[nodiscard]] std::string local_time(const Export& job, int64_t at_ns, const char* format);

}  // namespace mlrun::exchange
