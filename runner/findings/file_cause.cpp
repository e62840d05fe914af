// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/file_cause.h"

#include <algorithm>

#include "runner/blame/timeline/load.h"

namespace mlrun::findings {

namespace {

constexpr double kMost = 0.5;  // share of the time, or of the requests
// Share of the time asleep at a device: a thread that reads from memory hardly sleeps.
constexpr double kCachedMost = 0.2;
constexpr int64_t kManyReads = 5000;
constexpr int64_t kSmallBytes = 8192;    // mean size of a read
constexpr double kLargeBytes = 262'144;  // reads of this mean size or more cost the same at any offset
constexpr int64_t kManyFiles = 500;
constexpr int64_t kSmallFileBytes = 65'536;  // mean bytes read per opened file
constexpr double kOverEpochs = 12;           // times a file is read over: more than one read per epoch explains
constexpr double kOver = 3;
constexpr double kShareOfBytes = 0.3;
constexpr double kCachedBytesPerNs = 1.0;  // 1 GB/s: faster reads come from memory

}  // namespace

void find_reread(Context& context, const std::string& folder) {
  int64_t all_bytes = 0;
  std::pair<int64_t, int64_t> most{0, 0};  // bytes, file
  for (const auto& [file_id, file] : context.timeline().data_files) {
    all_bytes += file.bytes;
    most = std::max(most, {file.bytes, file_id});
  }
  if (most.second == 0) return;
  const blame::FileTotals& file = context.timeline().data_files.at(most.second);
  const double over = file.end_offset > 0 ? static_cast<double>(file.bytes) / static_cast<double>(file.end_offset) : 0;
  if (over <= kOver || static_cast<double>(file.bytes) < kShareOfBytes * static_cast<double>(all_bytes)) return;
  context.times_over = over;
  if (const auto paths = blame::read_paths(folder, {most.second})) context.most_read_path = paths->at(most.second);
}

void decide_files(Context& context, double share_remote, double share_device) {
  const blame::FileUse& use = context.use;
  const double mean = use.reads == 0 ? 0 : static_cast<double>(use.read_bytes) / static_cast<double>(use.reads);
  const bool small_requests = use.reads >= kManyReads && mean < kSmallBytes;
  const bool random = use.reads >= kManyReads / 10 &&
                      mean<kLargeBytes&& static_cast<double>(use.jumps)> kMost * static_cast<double>(use.reads);
  const bool small_files = use.opens >= kManyFiles && use.read_bytes / use.opens < kSmallFileBytes && use.reads > 0;
  const bool over = context.times_over > kOver;
  const bool direct = static_cast<double>(use.direct_ns) > kMost * static_cast<double>(use.read_ns);
  const bool names = use.names_ns > use.read_ns;
  const bool many_names = use.names > 3 * use.opens;
  // Whether the reads came from memory: the threads slept little in them; if sleep was not measured, the reads were fast.
  const bool fast =
      use.read_ns > 0 && static_cast<double>(use.read_bytes) / static_cast<double>(use.read_ns) > kCachedBytesPerNs;
  const bool cached = share_device >= 0 ? share_device <= kCachedMost : fast;
  auto& also = context.files_also;
  const auto note = [&](bool holds, Cause cause) {
    if (holds && cause != context.files && std::find(also.begin(), also.end(), cause) == also.end())
      also.push_back(cause);
  };
  const bool over_and_over = context.times_over > kOverEpochs && !random;
  if (share_remote > kMost) {
    context.files = Cause::kDataRemote;
  } else if (names && (many_names || !small_files)) {
    context.files = Cause::kMetadata;
  } else if (small_files) {
    context.files = Cause::kSmallFiles;
  } else if (direct) {
    context.files = Cause::kDataDevice;
  } else if (cached && (over_and_over || (over && !random && !small_requests))) {
    context.files = Cause::kReread;
    note(share_device < 0, Cause::kPageCacheMiss);  // by speed alone, a fast device cannot be distinguished from memory
  } else if (random) {
    context.files = Cause::kRandomRequests;
    note(!cached, Cause::kPageCacheMiss);
  } else if (small_requests) {
    context.files = Cause::kSmallRequests;
  } else {
    // Without kernel tables, a slow read may be a device's or another wait in the kernel.
    context.files = cached ? Cause::kDataDevice : Cause::kPageCacheMiss;
    note(true, cached ? Cause::kPageCacheMiss : Cause::kDataDevice);
  }
  note(small_files, Cause::kSmallFiles);
  note(small_requests, Cause::kSmallRequests);
  note(random, Cause::kRandomRequests);
  note(over && context.times_over > kOverEpochs, Cause::kReread);
  note(share_device > kMost, Cause::kDataDevice);
}

}  // namespace mlrun::findings
