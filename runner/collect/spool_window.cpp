// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/spool_window.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runner/events/record.h"

namespace mlrun::collect {

namespace {

constexpr uint64_t kLargestStretchBytes = 4 << 20, kSmallestStretchBytes = 256 << 10;
constexpr uint64_t kStretchesOfTime = 16;  // per window, so it exceeds the requested span by at most 1/16
constexpr uint64_t kKeptShare = 2;         // the kept file is rewritten at 1/2 of the limit
constexpr uint64_t kSmallestRewriteBytes = 256 << 10;
// Definitions are put into a frame from this size on. The rest of the frame is for one more record, which may re-emit
// names of 12 KiB and nested folders.
constexpr size_t kKeptFrameBytes = 64 << 10;

// Process frames with only I/O counts need not be kept: they come every two seconds, and those within the window suffice.
bool identifies_processes(std::string_view json) {
  for (const char* key : {"\"modules\"", "\"comm\"", "\"start_ticks\""}) {
    if (json.find(key) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

SpoolWindow::SpoolWindow(KeptFile kept, const WindowOptions& options)
    : kept_(std::move(kept)),
      options_(options),
      stretch_bytes_(std::clamp(options.max_bytes / kStretchesOfTime, kSmallestStretchBytes, kLargestStretchBytes)),
      stretch_ns_(options.last_ns / kStretchesOfTime),
      rewrite_bytes_(std::max(options.max_bytes / kKeptShare, kSmallestRewriteBytes)) {}

void SpoolWindow::note(const mlrun_frame& header, const char* payload, uint64_t end, uint64_t now_ns) {
  const bool full = !stretches_.empty() && (stretches_.back().end - stretches_.back().begin >= stretch_bytes_ ||
                                            now_ns - stretches_.back().first_ns >= stretch_ns_);
  if (stretches_.empty() || full) {
    const uint64_t begin = stretches_.empty() ? freed_end_ : stretches_.back().end;
    stretches_.push_back({begin, begin, now_ns, now_ns, 0});
    begun_++;
    use_.begin_stretch();
  }
  Stretch& stretch = stretches_.back();
  stretch.end = end;
  stretch.last_ns = now_ns;
  switch (static_cast<mlrun_frame_type>(header.type)) {
    case MLRUN_FRAME_DATA: stretch.records += keep_definitions(header, payload); break;
    case MLRUN_FRAME_CHANNEL:
      note_channel(header, payload);
      keep(header, payload);
      break;
    case MLRUN_FRAME_GPU:
    case MLRUN_FRAME_GAP: keep(header, payload); break;
    case MLRUN_FRAME_PROCESS:
      if (identifies_processes({payload, header.payload_bytes})) keep(header, payload);
      break;
    case MLRUN_FRAME_INDEX:
    case MLRUN_FRAME_PAD:
    case MLRUN_FRAME_ANCHOR:
    case MLRUN_FRAME_COUNTERS:
    case MLRUN_FRAME_LEFT_OUT:
    case MLRUN_FRAME_DROPS:
    case MLRUN_FRAME_SAMPLES:
    case MLRUN_FRAME_PYTHON:
    case MLRUN_FRAME_KEPT:
    case MLRUN_FRAME_SUMS:
    case MLRUN_FRAME_SUMS_STATE:
    case MLRUN_FRAME_SAME_FILE:
    case MLRUN_FRAME_TIMELINE:
    case MLRUN_FRAME_HEAP: break;
  }
}

// If the disk is full, the frames stay in the memory of kept_, and no events are freed until they are written.
void SpoolWindow::keep(const mlrun_frame& header, const char* payload) {
  kept_.add(header, payload, header.payload_bytes);
  if (kept_.is_due()) (void)kept_.flush();
}

void SpoolWindow::note_channel(const mlrun_frame& header, const char* payload) {
  mlrun_frame_channel body;
  if (header.payload_bytes < sizeof body) return;
  std::memcpy(&body, payload, sizeof body);
  use_.note_channel(header.channel, body.process);
}

// Copies the definitions among the records of a data frame. Returns the number of other records. The payload is in
// memory that every traced process can write: lengths are untrusted.
uint64_t SpoolWindow::keep_definitions(const mlrun_frame& header, const char* payload) {
  uint64_t events = 0;
  definitions_.clear();
  for (uint32_t at = 0; at + MLRUN_UNIT_BYTES <= header.payload_bytes;) {
    uint64_t first = 0;
    std::memcpy(&first, payload + at, sizeof first);
    const auto bytes = static_cast<uint32_t>(first >> 8 & 0xff) * MLRUN_UNIT_BYTES;
    if (bytes == 0 || bytes > header.payload_bytes - at) break;
    if (!use_.note(header, payload + at, bytes, definitions_)) events++;
    if (definitions_.size() >= kKeptFrameBytes) put_definitions(header);
    at += bytes;
  }
  put_definitions(header);
  if (use_.has_re_emitted()) (void)kept_.flush();  // the spool's copy may have been freed, so this may be the only one
  return events;
}

void SpoolWindow::put_definitions(mlrun_frame header) {
  if (definitions_.empty()) return;
  header.type = MLRUN_FRAME_KEPT;
  header.payload_bytes = static_cast<__u32>(definitions_.size());
  keep(header, definitions_.data());
  definitions_.clear();
}

// Keeps definitions from using up the space of the newest events. A rewrite requires that the file has grown by half
// since the last one, so its cost is proportional to the cost of writing.
void SpoolWindow::evict_definitions() {
  if (kept_.bytes() < rewrite_bytes_) return;
  const uint64_t oldest = begun_ - stretches_.size() + 1;
  use_.note_folders(oldest);
  const bool read =
      kept_.for_each_record([&](const char* record, uint32_t bytes) { use_.note_reference(record, bytes, oldest); });
  const auto is_evicted = [&](const char* record, uint32_t bytes) { return use_.evict(record, bytes, oldest); };
  if (read) (void)kept_.rewrite(is_evicted);  // on failure the file stays unchanged
  rewrite_bytes_ = std::max(options_.max_bytes / kKeptShare, kept_.bytes() + kept_.bytes() / 2);
}

uint64_t SpoolWindow::end_of_old(uint64_t now_ns, uint64_t written, uint64_t needed_bytes) const {
  uint64_t end = 0;
  for (const Stretch& stretch : stretches_) {
    const bool old = now_ns > options_.last_ns && stretch.last_ns < now_ns - options_.last_ns;
    const bool too_much = needed_bytes > 0 && end < freed_end_ + needed_bytes;
    if (stretch.end > written || !(old || too_much)) break;
    end = stretch.end;
  }
  return end;
}

bool SpoolWindow::note_freed(uint64_t end) {
  mlrun_frame_gap gap{MLRUN_GAP_OLD, 0, 0, 0, 0};
  auto stretch = stretches_.begin();
  for (; stretch != stretches_.end() && stretch->end <= end; ++stretch) {
    if (gap.first_monotonic_ns == 0) gap.first_monotonic_ns = stretch->first_ns;
    gap.last_monotonic_ns = stretch->last_ns;
    gap.count += stretch->records;
  }
  mlrun_frame header{};
  header.type = MLRUN_FRAME_GAP;
  header.seq = (uint64_t{1} << 63) + notes_++;  // distinct from every frame in the spool
  kept_.add(header, &gap, sizeof gap);
  if (!kept_.flush()) return false;
  stretches_.erase(stretches_.begin(), stretch);
  freed_end_ = end;
  freed_records_ += gap.count;
  evict_definitions();
  return true;
}

}  // namespace mlrun::collect
