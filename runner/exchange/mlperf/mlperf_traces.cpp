// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/mlperf/mlperf_traces.h"

#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/exchange/each_row.h"
#include "runner/exchange/export.h"
#include "runner/exchange/mlperf/text_files.h"
#include "runner/util/file_io.h"

namespace mlrun::exchange {

std::string one_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ') {
      word += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      word += c;
    }
  }
  return word;
}

std::string base_name(std::string_view path) { return one_word(path.substr(path.rfind('/') + 1)); }

std::string local_time(const Export& job, int64_t at_ns, const char* format) {
  const std::time_t seconds = (at_ns + job.realtime_offset_ns()) / 1'000'000'000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), format, &local));
  return text;
}

Status write_mlperf_traces(Export& job) {
  if (job.is_merged()) {
    return fail(fmt::format(
        "{} is a trace of {} nodes, and traces of MLPerf Storage describe only one: export the trace of each node",
        job.trace_folder(), job.nodes().size()));
  }
  if (Status made = util::make_folders(job.output()); !made) return made;
  std::vector<std::string> missing;
  if (auto written = write_call_files(job); !written) return written;
  if (auto written = write_block_file(job, missing); !written) return written;
  if (auto written = write_sample_files(job, missing); !written) return written;
  if (auto written = write_log_file(job, missing); !written) return written;
  if (auto written = write_process_files(job, missing); !written) return written;
  for (const std::string& line : missing) job.account().note(line);
  return leave_out_others(job,
                          {"call", "block_part", "mark", "import_event", "sample_cpu", "sample_disk",
                           "sample_gpu_process", "process", "thread", "syscall"},
                          "no file of mlperf-traces has them");
}

}  // namespace mlrun::exchange
