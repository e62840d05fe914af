// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool_index.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "runner/trace/identity.h"
#include "runner/trace/in_order.h"
#include "runner/trace/limits.h"
#include "runner/util/file_io.h"

namespace mlrun::trace {

SpoolIndex::SpoolIndex(const SpoolOptions& options, model::TraceInfo& info, util::UniqueFd fd, uint64_t bytes)
    : fd_(std::move(fd)),
      bytes_(bytes),
      session_clock_(options.clock_kind),
      strings_(info.files.texts()),
      files_(strings_, info.files, Mounts(util::read_text("/proc/self/mountinfo"))),
      channels_(options.clock_kind),
      anchors_(options.anchors) {}

Result<std::unique_ptr<SpoolIndex>> SpoolIndex::load(const SpoolOptions& options, model::TraceInfo& info,
                                                     const std::function<void(size_t, size_t)>& told) {
  util::UniqueFd fd(::open(options.path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) return fail_errno("open the spool " + options.path, errno);
  if (!S_ISREG(status.st_mode)) return fail("the spool " + options.path + " is not a file");
  const auto bytes = static_cast<uint64_t>(status.st_size);
  std::unique_ptr<SpoolIndex> index(new SpoolIndex(options, info, std::move(fd), bytes));

  const size_t blocks = (bytes + MLRUN_SPOOL_BLOCK_BYTES - 1) / MLRUN_SPOOL_BLOCK_BYTES;
  std::vector<BlockScan> scans(std::max(options.threads, 1u));
  auto scanned = in_order(
      blocks, options.threads,
      [&](unsigned thread, size_t block) -> Status {
        const uint64_t begin = block * MLRUN_SPOOL_BLOCK_BYTES;
        auto scan = scan_block(index->fd(), begin, begin + MLRUN_SPOOL_BLOCK_BYTES, bytes);
        if (!scan) return tl::make_unexpected(scan.error());
        scans[thread] = *std::move(scan);
        return {};
      },
      [&](unsigned thread, size_t block) -> Status {
        index->take(scans[thread]);
        told(block + 1, blocks);
        return {};
      },
      [](unsigned, size_t) -> Status { return {}; });
  if (!scanned) return tl::make_unexpected(scanned.error());
  if (auto resolved = index->resolve(info); !resolved) return tl::make_unexpected(resolved.error());
  return index;
}

void SpoolIndex::take(BlockScan& scan) {
  for (const auto& [serial, about] : scan.channels) channels_.describe(serial, about);
  for (const auto& [serial, counters] : scan.counters) channels_.count(serial, counters);
  for (const FrameNote& frame : scan.frames) {
    if (const auto index = channels_.add(frame)) chunks_.add(frame, channels_.all()[*index].clock_kind);
  }
  chunks_.end_block();
  for (const StringNote& string : scan.strings) strings_.add(string);
  for (const auto& [serial, fragment] : scan.fragments) strings_.add(serial, fragment);
  for (const events::FileEvent& file : scan.files) files_.add(file);
  for (const PathRef& path : scan.paths) files_.add(path);
  notes_.add(scan);
  keep_anchors(scan.anchors);
  if (gaps_.size() < kLossSpansMax) gaps_.insert(gaps_.end(), scan.gaps.begin(), scan.gaps.end());
  damage_.file_bytes += scan.damaged_file_bytes;
  damage_.record_bytes += scan.damaged_record_bytes;
  damage_.unknown_records += scan.unknown_records;
  damage_.unknown_frames += scan.unknown_frames;
  scan = BlockScan{};
}

// A week has six million anchors: of very many every second one is left out, as often as needed.
void SpoolIndex::keep_anchors(const std::vector<mlrun_frame_anchor>& anchors) {
  for (const mlrun_frame_anchor& anchor : anchors) {
    if (anchors_seen_++ % anchor_step_ == 0) anchors_.push_back(anchor);
    if (anchors_.size() < kAnchorsMax) continue;
    for (size_t i = 0; i < anchors_.size() / 2; ++i) anchors_[i] = anchors_[i * 2];
    anchors_.resize(anchors_.size() / 2);
    anchor_step_ *= 2;
  }
}

Status SpoolIndex::resolve(model::TraceInfo& info) {
  auto clock = TraceClock::make(std::move(anchors_), channels_.any_ticks());
  if (!clock) return tl::make_unexpected(clock.error());
  clock_ = *std::move(clock);
  chunks_.place(clock_);
  files_.finish();
  notes_.place(channels_, clock_, session_clock_);
  Identity(channels_, notes_, strings_, clock_).resolve(info);
  return {};
}

}  // namespace mlrun::trace
