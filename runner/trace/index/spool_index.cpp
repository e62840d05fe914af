// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/index/spool_index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "runner/decode/limits.h"
#include "runner/trace/identity/identity.h"
#include "runner/trace/identity/process_ends.h"
#include "runner/util/file_io.h"
#include "runner/util/in_order.h"

namespace mlrun::trace {

namespace {

// The offset in [begin, end) at which data begin. Freed parts of the spool are holes in its file and need not be read.
uint64_t behind_hole(int fd, uint64_t begin, uint64_t end) {
  const off_t data = ::lseek(fd, static_cast<off_t>(begin), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? end : begin;
  const auto found = static_cast<uint64_t>(data) / MLRUN_FRAME_ALIGN * MLRUN_FRAME_ALIGN;
  return std::clamp(found, begin, end);
}

}  // namespace

SpoolIndex::SpoolIndex(const SpoolOptions& options, model::TraceInfo& info, util::UniqueFd fd, uint64_t bytes)
    : fd_(std::move(fd)),
      bytes_(bytes),
      alloc_sample_bytes_(options.alloc_sample_bytes),
      session_clock_(options.clock_kind),
      strings_(info.files.texts()),
      files_(strings_, info.files, Mounts(util::read_text("/proc/self/mountinfo")), options.inherited),
      channels_(options.clock_kind),
      stacks_(info.stacks),
      anchors_(options.anchors) {}

Result<std::unique_ptr<SpoolIndex>> SpoolIndex::load(const SpoolOptions& options, model::TraceInfo& info,
                                                     const std::function<void(size_t, size_t)>& report) {
  util::UniqueFd fd(::open(options.path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) return fail_errno("open the spool " + options.path, errno);
  if (!S_ISREG(status.st_mode)) return fail("the spool " + options.path + " is not a regular file");
  const auto bytes = static_cast<uint64_t>(status.st_size);
  std::unique_ptr<SpoolIndex> index(new SpoolIndex(options, info, std::move(fd), bytes));
  if (auto kept = index->load_frame_file(options.kept_path, &index->kept_); !kept) {
    return tl::make_unexpected(kept.error());
  }
  index->note_old_gaps();
  index->channels_.set_leaves_out(options.summary_only);
  if (options.summary_only) {
    // Only the definitions of threads, processes, files and clocks; sums_file.h reads the sums later.
    if (auto sums = index->load_frame_file(options.sums_path, nullptr); !sums) {
      return tl::make_unexpected(sums.error());
    }
  }

  const size_t chunks = (bytes + MLRUN_SPOOL_CHUNK_BYTES - 1) / MLRUN_SPOOL_CHUNK_BYTES;
  std::vector<ChunkScan> scans(std::max(options.threads, 1u));
  auto scanned = util::in_order(
      chunks, options.threads,
      [&](unsigned thread, size_t chunk) -> Status {
        const uint64_t end = (chunk + 1) * MLRUN_SPOOL_CHUNK_BYTES;
        const uint64_t begin = behind_hole(index->fd(), chunk * MLRUN_SPOOL_CHUNK_BYTES, end);
        auto scan = scan_chunk(index->fd(), begin, end, bytes, &index->kept_);
        if (!scan) return tl::make_unexpected(scan.error());
        scans[thread] = *std::move(scan);
        return {};
      },
      [&](unsigned thread, size_t chunk) -> Status {
        index->take(scans[thread]);
        report(chunk + 1, chunks);
        return {};
      },
      [](unsigned, size_t) -> Status { return {}; });
  if (!scanned) return tl::make_unexpected(scanned.error());
  if (auto resolved = index->resolve(info); !resolved) return tl::make_unexpected(resolved.error());
  return index;
}

Status SpoolIndex::load_frame_file(const std::string& path, KeptFrames* keys) {
  const auto file = open_frame_file(path);
  if (!file) return tl::make_unexpected(file.error());
  for (uint64_t begin = 0; begin < file->bytes; begin += MLRUN_SPOOL_CHUNK_BYTES) {
    auto scan = scan_chunk(file->fd.get(), begin, begin + MLRUN_SPOOL_CHUNK_BYTES, file->bytes, nullptr);
    if (!scan) return tl::make_unexpected(scan.error());
    for (const uint64_t key : scan->kept) {
      if (keys) keys->at(key) = 1;
    }
    take(*scan);
  }
  return {};
}

// Requires: kept.bin was loaded, which says what was freed.
void SpoolIndex::note_old_gaps() {
  for (const auto& [serial, gap] : gaps_) {
    if (gap.reason != MLRUN_GAP_OLD) continue;
    events_from_ns_ = std::max(events_from_ns_, TraceClock::from_monotonic(gap.last_monotonic_ns));
  }
  channels_.set_begins_late(events_from_ns_ != 0);
}

void SpoolIndex::take(ChunkScan& scan) {
  for (const auto& [serial, about] : scan.channels) channels_.describe(serial, about);
  for (const auto& [serial, counters] : scan.counters) channels_.count(serial, counters);
  for (const auto& [serial, totals] : scan.drops) channels_.drop_records(serial, totals);
  for (const auto& [serial, totals] : scan.left_out) channels_.leave_out(serial, totals);
  for (const FrameNote& frame : scan.frames) {
    if (const auto index = channels_.add(frame)) frame_ranges_.add(frame, channels_.all()[*index].clock_kind);
  }
  frame_ranges_.end_chunk();
  for (const StringNote& string : scan.strings) strings_.add(string);
  for (const auto& [serial, fragment] : scan.fragments) strings_.add(serial, fragment);
  take_files(scan);
  for (const decode::PathRef& path : scan.paths) files_.add(path);
  for (const mlrun_same_file& same : scan.same_files) files_.add(same);
  for (const auto& [serial, start] : scan.failed_execs) {
    if (failed_execs_.size() < decode::kFailedExecsMax) failed_execs_.at(exec_key(serial, start)) = 1;
  }
  notes_.add(scan);
  sockets_.add(std::move(scan.sockets));
  take_stacks(scan);
  take_gpu_facts(scan);
  keep_anchors(scan.anchors);
  if (gaps_.size() < decode::kLossSpansMax) gaps_.insert(gaps_.end(), scan.gaps.begin(), scan.gaps.end());
  if (gpu_texts_.size() < decode::kGpusMax) {
    gpu_texts_.insert(gpu_texts_.end(), scan.gpu_texts.begin(), scan.gpu_texts.end());
  }
  sample_frames_.insert(sample_frames_.end(), scan.sample_frames.begin(), scan.sample_frames.end());
  python_frames_.insert(python_frames_.end(), scan.python_frames.begin(), scan.python_frames.end());
  damage_.file_bytes += scan.damaged_file_bytes;
  damage_.record_bytes += scan.damaged_record_bytes;
  damage_.unknown_records += scan.unknown_records;
  damage_.unknown_frames += scan.unknown_frames;
  scan = ChunkScan{};
}

void SpoolIndex::take_files(const ChunkScan& scan) {
  auto named = scan.given_names.begin();
  size_t before = 0;
  for (const decode::FileEvent& file : scan.files) {
    for (; named != scan.given_names.end() && named->files_before == before; ++named) files_.add(named->given);
    files_.add(file);
    ++before;
  }
  for (; named != scan.given_names.end(); ++named) files_.add(named->given);
}

// A channel's description precedes its data, so its process is known.
void SpoolIndex::take_stacks(const ChunkScan& scan) {
  for (const auto& [serial, module] : scan.modules) {
    if (const Channel* channel = channels_.find(serial)) stacks_.add(channel->about.process, module);
  }
  for (const auto& [serial, stack] : scan.stacks) {
    const Channel* channel = channels_.find(serial);
    if (channel) stacks_.add(channel->about.process, stack, &scan.stack_frames[stack.first]);
  }
}

void SpoolIndex::take_gpu_facts(const ChunkScan& scan) {
  has_gpu_work_ = has_gpu_work_ || scan.has_gpu_work;
  for (const auto& [serial, device] : scan.gpu_devices) {
    if (const Channel* channel = channels_.find(serial)) gpu_facts_.add(channel->about.process, device);
  }
  for (const auto& [serial, note] : scan.gpu_notes) {
    if (const Channel* channel = channels_.find(serial)) gpu_facts_.add(channel->about.process, serial, note);
  }
}

// A week has six million anchors: at the limit, every second one is dropped.
void SpoolIndex::keep_anchors(const std::vector<mlrun_frame_anchor>& anchors) {
  for (const mlrun_frame_anchor& anchor : anchors) {
    if (anchors_seen_++ % anchor_step_ == 0) anchors_.push_back(anchor);
    if (anchors_.size() < decode::kAnchorsMax) continue;
    for (size_t i = 0; i < anchors_.size() / 2; ++i) anchors_[i] = anchors_[i * 2];
    anchors_.resize(anchors_.size() / 2);
    anchor_step_ *= 2;
  }
}

Status SpoolIndex::resolve(model::TraceInfo& info) {
  auto clock = TraceClock::make(std::move(anchors_), channels_.any_ticks());
  if (!clock) return tl::make_unexpected(clock.error());
  clock_ = *std::move(clock);
  frame_ranges_.place(clock_);
  files_.finish();
  sockets_.finish(channels_, clock_, files_, info.files);
  notes_.place(channels_, clock_, session_clock_);
  Identity identity(channels_, notes_, strings_, clock_);
  identity.resolve(info);
  thread_numbers_ = identity.take_thread_numbers();
  note_waits(info.processes, notes_, channels_.all());
  set_ends(info.processes, channels_, gaps_, events_from_ns_ != 0);
  stacks_.finish(strings_, notes_.modules());
  return {};
}

}  // namespace mlrun::trace
