// SPDX-License-Identifier: Apache-2.0
// Transfers between files and GPUs by libcufile.
#include <string>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {

std::string gpu_files_text(const Summary& summary, const TextStyle& style) {
  TextTable table({"CUFILE", "calls", "bytes", "by read, write", "time", "errors"});
  bool is_by_posix = false;
  for (const summary::GpuFileSummary& sum : summary.gpu_files) {
    is_by_posix = is_by_posix || sum.posix_bytes > 0;
    table.add({sum.func, util::count_text(sum.calls), util::bytes_text(sum.bytes),
               sum.posix_bytes >= 0 ? util::bytes_text(sum.posix_bytes) : "-",
               util::time_text(sum.time_ns, style.glyphs), util::count_text(sum.errors)});
  }
  if (is_by_posix) {
    table.add_note("by read, write: bytes that libcufile moved through host memory (compatibility mode); counted once");
  }
  return table.empty() ? "" : table.text(style);
}

}  // namespace mlrun::report
