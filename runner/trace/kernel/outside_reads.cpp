// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/outside_reads.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runner/trace/kernel/kernel_moments.h"
#include "runner/util/saturating.h"
#include "runner/util/units.h"

namespace mlrun::trace {

namespace {

// Less is expected from loading a program's own libraries.
constexpr int64_t kBytesMin = 1 << 20;
constexpr int64_t kPercentMin = 1;
constexpr size_t kOutsideFilesMax = 100000;

// Pauses and path rules apply to calls, not to the kernel side, so it has reads of calls without rows.
std::string who_has_no_rows(const model::TraceInfo& info) {
  const auto is_pause = [](const model::LossRow& row) { return row.reason == "paused"; };
  std::string text;
  if (std::any_of(info.losses.begin(), info.losses.end(), is_pause)) text += "calls made while recording was paused, ";
  if (!info.left_out.empty()) text += "calls on files that --include or --exclude leave out, ";
  return text;
}

}  // namespace

// A bio of a stacked device (request 0) is counted as bios of the devices below it.
int64_t OutsideReads::add(const mlrun_block_part& part, int64_t file_id, bool is_outside) {
  if (part.op != MLRUN_BLOCK_READ || part.request == 0) return 0;
  util::add_to(all_bytes_, int64_t{part.bytes});
  if (!is_outside) return 0;
  util::add_to(outside_bytes_, int64_t{part.bytes});
  if (file_id > 0 && (files_.size() < kOutsideFilesMax || files_.contains(file_id))) {
    util::add_to(files_[file_id], int64_t{part.bytes});
  }
  return (int64_t{part.bytes} + kPageBytes - 1) / kPageBytes;
}

// The file with the most bytes, as the device's requests name it.
std::string OutsideReads::files_text(const model::TraceInfo& info) const {
  const auto largest =
      std::max_element(files_.begin(), files_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest == files_.end() || static_cast<size_t>(largest->first) > info.files.size()) return {};
  std::string text = "; of " + info.files[static_cast<size_t>(largest->first) - 1].path + " (" +
                     summary::bytes_text(largest->second) + ")";
  if (files_.size() > 1) text += " and " + std::to_string(files_.size() - 1) + " more files that calls name";
  return text;
}

void OutsideReads::add_row(model::TraceInfo& info) const {
  if (outside_bytes_ < kBytesMin || outside_bytes_ / kPercentMin < all_bytes_ / 100) return;
  std::string detail =
      "outside of recorded calls and operations: " + who_has_no_rows(info) +
      "page faults of mapped files, programs being loaded, asynchronous I/O, without the library folders "
      "and attributes too (listing, stat); their time is in no sum of I/O time" +
      files_text(info);
  info.coverage.push_back({0, "bytes read from devices", std::move(detail), all_bytes_ - outside_bytes_, all_bytes_});
}

}  // namespace mlrun::trace
