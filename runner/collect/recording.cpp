// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/recording.h"

#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runner/collect/clock_anchor.h"
#include "runner/collect/kept_file.h"
#include "runner/events/record.h"
#include "runner/events/session.h"
#include "runner/util/clock.h"
#include "runner/util/proc_files.h"
#include "runner/util/text.h"

namespace mlrun::collect {

namespace {

constexpr uint64_t kMaxSpoolBytes = uint64_t{64} << 30;

uint64_t default_max_spool(const std::string& folder) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0) return kMaxSpoolBytes;
  return std::min<uint64_t>(kMaxSpoolBytes, uint64_t{status.f_bavail} * status.f_frsize / 2);
}

// A random UUID (RFC 4122, version 4).
Uuid make_uuid() {
  Uuid uuid{};
  if (::getrandom(uuid.data(), uuid.size(), 0) != static_cast<ssize_t>(uuid.size())) {
    const uint64_t now_ns = util::realtime_ns();
    std::copy_n(reinterpret_cast<const uint8_t*>(&now_ns), sizeof now_ns, uuid.begin());
  }
  uuid[6] = static_cast<uint8_t>(0x40 | (uuid[6] & 0x0f));
  uuid[8] = static_cast<uint8_t>(0x80 | (uuid[8] & 0x3f));
  return uuid;
}

// The hint for an arena that did not fit into the hard `ulimit -f`. Empty: that limit is not the cause of the failure.
std::string hint_at_limit(uint64_t buffer_bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= buffer_bytes) return {};
  return fmt::format("; files are limited to {} (ulimit -f), but the buffer has {}: give a smaller --buffer",
                     util::size_text(limit.rlim_cur), util::size_text(buffer_bytes));
}

Result<std::pair<ArenaPlace, Arena>> make_arena(const RecordingOptions& options) {
  ArenaOptions arena_options;
  arena_options.clock_kind = util::choose_clock().kind;
  arena_options.lossless = options.lossless;
  arena_options.alloc_min_bytes = options.alloc_min_bytes;
  arena_options.alloc_sample_bytes = options.alloc_sample_bytes;
  arena_options.streams = options.streams;
  arena_options.wait_min_ticks = static_cast<uint32_t>(ticks_in(MLRUN_WAIT_MIN_NS, arena_options.clock_kind));
  arena_options.stack_depth = options.stack_depth;
  arena_options.graph_nodes_per_s = options.graph_nodes_per_s;
  arena_options.session = make_uuid();
  arena_options.trace_folder = options.trace_folder;
  arena_options.path_rules = options.path_rules;
  arena_options.placement = options.placement;
  Error last{
      "there is no place for the event buffer: /dev/shm has too little free space, and the path of the trace folder "
      "has a comma; choose a folder without a comma with -o"};
  for (ArenaPlace& place : arena_places(options.trace_folder, options.buffer_bytes, options.buffer_exact)) {
    arena_options.segment_count = place.segment_count;
    auto arena = Arena::create(place.path, arena_options);
    if (arena) return std::pair(std::move(place), std::move(*arena));
    last = std::move(arena.error());
  }
  last.text += hint_at_limit(options.buffer_bytes);
  return tl::make_unexpected(std::move(last));
}

}  // namespace

std::string spool_path(const std::string& trace_folder) { return trace_folder + "/" + MLRUN_SPOOL_FILE; }

std::string kept_path(const std::string& trace_folder) { return trace_folder + "/" + MLRUN_KEPT_FILE; }

std::string sums_path(const std::string& trace_folder) { return trace_folder + "/" + MLRUN_SUMS_FILE; }

Recording::Recording(ArenaPlace place, Arena arena, SpoolFile file, const RecordingOptions& options,
                     uint64_t max_spool_bytes)
    : place_(std::move(place)),
      trace_folder_(options.trace_folder),
      max_spool_bytes_(max_spool_bytes),
      arena_(std::move(arena)),
      owner_(arena_.control().collector_lock),
      spool_({arena_.stage(), &arena_.control().stage_head, &arena_.control().stage_tail}, std::move(file),
             max_spool_bytes, {}),
      collector_(arena_, spool_) {}

Result<std::unique_ptr<Recording>> Recording::create(const RecordingOptions& options) {
  auto file = SpoolFile::create(spool_path(options.trace_folder));
  if (!file) return tl::make_unexpected(file.error());
  if (options.last_ns != 0 && file->free_bytes(0, SpoolFile::kPageBytes) != 0) {
    ::unlink(spool_path(options.trace_folder).c_str());
    return fail("--last: the file system of " + options.trace_folder +
                " cannot free parts of a file; choose a folder on another file system with -o");
  }
  auto made = make_arena(options);
  if (!made) {
    ::unlink(spool_path(options.trace_folder).c_str());
    return tl::make_unexpected(made.error());
  }
  const uint64_t max_spool_bytes = options.max_spool_bytes.value_or(default_max_spool(options.trace_folder));
  std::unique_ptr<Recording> recording(
      new Recording(std::move(made->first), std::move(made->second), std::move(*file), options, max_spool_bytes));
  if (Status windowed = options.last_ns != 0 ? recording->keep_newest(options.last_ns) : Status(); !windowed) {
    recording->discard();
    return tl::make_unexpected(windowed.error());
  }
  if (options.make_sink) recording->spool_.give_events_to(options.make_sink(max_spool_bytes));
  return recording;
}

Status Recording::keep_newest(uint64_t last_ns) {
  auto kept = KeptFile::create(kept_path(trace_folder_));
  if (!kept) return tl::make_unexpected(kept.error());
  spool_.keep_newest(std::make_unique<SpoolWindow>(*std::move(kept), WindowOptions{last_ns, max_spool_bytes_}));
  return {};
}

std::string Recording::session_variable() const {
  return fmt::format("{},{},{},{}", place_.path, arena_.layout().bytes, util::own_seccomp_filters(), trace_folder_);
}

void Recording::remove_arena() const { ::unlink(place_.path.c_str()); }

Status Recording::finish() {
  collector_.finish(true);
  if (Status closed = spool_.close(); !closed) return closed;
  remove_arena();
  return {};
}

void Recording::discard() {
  remove_arena();
  ::unlink(spool_path(trace_folder_).c_str());
  ::unlink(kept_path(trace_folder_).c_str());
  ::unlink(KeptFile::unfinished_path(kept_path(trace_folder_)).c_str());
  ::unlink(sums_path(trace_folder_).c_str());
}

}  // namespace mlrun::collect
