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

// Fewer bytes have no row: loading a program and its libraries reads about as much.
constexpr int64_t kBytesMin = 1 << 20;
constexpr int64_t kPercentMin = 1;
constexpr size_t kOutsideFilesMax = 100000;

// The calls that have no row although the kernel side recorded their reads: pauses and path rules do not apply to it.
std::string who_has_no_rows(const model::TraceInfo& info) {
  const auto is_pause = [](const model::LossRow& row) { return row.reason == "paused"; };
  std::string text;
  if (std::any_of(info.losses.begin(), info.losses.end(), is_pause)) text += "calls made while recording was paused, ";
  if (!info.left_out.empty()) text += "calls on files that --include or --exclude leave out, ";
  return text;
}

}  // namespace

// Skips bios of stacked devices (request 0): the bios of the devices below them are counted instead.
int64_t OutsideReads::add(const mlrun_bio_fragment& fragment, int64_t file_id, bool is_outside) {
  if (fragment.op != MLRUN_BLOCK_READ || fragment.request == 0) return 0;
  util::add_to(all_bytes_, int64_t{fragment.bytes});
  if (!is_outside) return 0;
  util::add_to(outside_bytes_, int64_t{fragment.bytes});
  if (file_id > 0 && (files_.size() < kOutsideFilesMax || files_.contains(file_id))) {
    util::add_to(files_[file_id], int64_t{fragment.bytes});
  }
  return (int64_t{fragment.bytes} + kPageBytes - 1) / kPageBytes;
}

// Text that names the file with the most bytes read outside of calls, and the number of other known files.
std::string OutsideReads::files_text(const model::TraceInfo& info) const {
  const auto largest =
      std::max_element(files_.begin(), files_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest == files_.end() || static_cast<size_t>(largest->first) > info.files.size()) return {};
  std::string text = "; of " + info.files[static_cast<size_t>(largest->first) - 1].path + " (" +
                     util::bytes_text(largest->second) + ")";
  if (files_.size() > 1) text += " and " + std::to_string(files_.size() - 1) + " more known files";
  return text;
}

void OutsideReads::add_row(model::TraceInfo& info) const {
  if (outside_bytes_ < kBytesMin || outside_bytes_ / kPercentMin < all_bytes_ / 100) return;
  std::string detail =
      "outside of recorded calls and operations: " + who_has_no_rows(info) +
      "page faults of mapped files, loading of programs, asynchronous I/O and, in processes without mlrun's library, "
      "listing of folders and stat; their time is in no sum of I/O time" +
      files_text(info);
  info.coverage.push_back({0, "bytes read from devices", std::move(detail), all_bytes_ - outside_bytes_, all_bytes_});
}

}  // namespace mlrun::trace
