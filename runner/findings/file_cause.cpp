// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/file_cause.h"

#include <algorithm>
#include <iterator>

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

void decide_files(Context& context, const FileShares& shares) {
  const blame::FileUse& use = context.use;
  const double mean = use.reads == 0 ? 0 : static_cast<double>(use.read_bytes) / static_cast<double>(use.reads);
  const bool small_requests = use.reads >= kManyReads && mean < kSmallBytes;
  const bool jumps = static_cast<double>(use.jumps) > kMost * static_cast<double>(use.reads);
  const bool random = use.reads >= kManyReads / 10 && mean < kLargeBytes && jumps;
  const bool small_files = use.opens >= kManyFiles && use.read_bytes / use.opens < kSmallFileBytes && use.reads > 0;
  const bool over = context.times_over > kOver;
  const bool over_epochs = context.times_over > kOverEpochs;
  const bool direct = static_cast<double>(use.direct_ns) > kMost * static_cast<double>(use.read_ns);
  const bool names = use.names_ns > use.read_ns;
  const bool many_names = use.names > 3 * use.opens;
  // Whether the reads came from memory: the threads slept little in them; if sleep was not measured, the reads were fast.
  const bool fast =
      use.read_ns > 0 && static_cast<double>(use.read_bytes) / static_cast<double>(use.read_ns) > kCachedBytesPerNs;
  const bool measured = shares.device >= 0;
  const bool cached = measured ? shares.device <= kCachedMost : fast;
  const bool read_again = !random && (over_epochs || (over && !small_requests));

  struct Choice {
    Cause cause;
    bool holds;
    Cause also = Cause::kNone;  // what cannot be distinguished from it
  };
  // The first that holds. By speed alone, a fast device cannot be distinguished from memory.
  const Choice choices[] = {
      {Cause::kDataRemote, shares.remote > kMost},
      {Cause::kMetadata, names && (many_names || !small_files)},
      {Cause::kSmallFiles, small_files},
      {Cause::kDataDevice, direct},
      {Cause::kReread, cached && read_again, measured ? Cause::kNone : Cause::kPageCacheMiss},
      {Cause::kRandomRequests, random, cached ? Cause::kNone : Cause::kPageCacheMiss},
      {Cause::kSmallRequests, small_requests},
      // A processor copies the bytes.
      {Cause::kDataTransformCpu, cached && (!measured || shares.cpu > kMost),
       measured ? Cause::kNone : Cause::kDataDevice},
      // Without kernel tables, a slow read may be a device's or another wait in the kernel.
      {Cause::kPageCacheMiss, !cached, Cause::kDataDevice},
      {Cause::kDataDevice, true},  // asleep in the kernel, for something below the file system
  };
  const Choice& chosen = *std::find_if(std::begin(choices), std::end(choices), [](const Choice& c) { return c.holds; });
  const Choice others[] = {
      {chosen.also, chosen.also != Cause::kNone},
      {Cause::kSmallFiles, small_files},
      {Cause::kSmallRequests, small_requests},
      {Cause::kRandomRequests, random},
      {Cause::kReread, over_epochs},
      {Cause::kDataDevice, shares.device > kMost},
  };
  context.files = chosen.cause;
  auto& also = context.files_also;
  for (const Choice& other : others) {
    if (other.holds && other.cause != chosen.cause && std::find(also.begin(), also.end(), other.cause) == also.end())
      also.push_back(other.cause);
  }
}

}  // namespace mlrun::findings
