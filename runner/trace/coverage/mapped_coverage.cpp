// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/mapped_coverage.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "runner/util/saturating.h"
#include "runner/util/units.h"

namespace mlrun::trace {

namespace {

// Fewer mapped bytes, summed over all files, are not reported. Mappings by ld.so, also for dlopen, are not recorded as
// calls and not counted.
constexpr int64_t kMappedBytesMin = 1 << 20;
constexpr size_t kMappedFilesMax = 10000;

}  // namespace

// Counts readable mappings of regular files without code: page faults read these.
void MappedCoverage::add(const model::CallRow& row) {
  const bool is_data =
      row.file_kind == model::FileKind::kRegular && (row.arg2 & PROT_EXEC) == 0 && row.arg2 != PROT_NONE;
  if (row.err != 0 || !is_data || row.requested <= 0) return;
  if (mapped_.size() >= kMappedFilesMax && !mapped_.contains(row.file_id)) {
    ++mapped_left_out_;
    return;
  }
  util::add_to(mapped_[row.file_id], row.requested);
}

void MappedCoverage::add_rows(const model::TraceInfo& info, const std::string& hint,
                              std::vector<model::CoverageRow>& rows) const {
  int64_t mapped_bytes = 0;
  for (const auto& [file, bytes] : mapped_) util::add_to(mapped_bytes, bytes);
  if (mapped_bytes < kMappedBytesMin && mapped_left_out_ == 0) return;
  const auto largest = std::max_element(mapped_.begin(), mapped_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto index = static_cast<size_t>(largest->first);
  std::string detail = index > 0 && index <= info.files.size() ? info.files[index - 1].path : "a file";
  detail += " (" + util::bytes_text(largest->second) + ")";
  const int64_t others = static_cast<int64_t>(mapped_.size()) - 1;
  if (others > 0 || mapped_left_out_ > 0) {
    detail += fmt::format(" and {}{} more, {} in all", mapped_left_out_ > 0 ? "at least " : "", others,
                          util::bytes_text(mapped_bytes));
  }
  rows.push_back(
      {0, "what is read and written in mapped files", detail + ": page faults are not calls; " + hint, -1, -1});
}

}  // namespace mlrun::trace
