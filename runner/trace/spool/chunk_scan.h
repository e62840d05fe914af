// SPDX-License-Identifier: Apache-2.0
// The first pass over one 64 MiB chunk of the spool: notes about its frames, and all definitions that rows refer to
// (strings, open files, processes, channels, clock anchors). Chunks are scanned in parallel and may refer to each
// other, so nothing is joined here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/decode/event_view.h"
#include "runner/decode/gpu_event_view.h"
#include "runner/decode/path_ref.h"
#include "runner/events/spool.h"
#include "runner/events/sums.h"
#include "runner/model/text_arena.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/util/drop_counts.h"
#include "runner/util/flat_map.h"
#include "runner/util/scrambled.h"
#include "runner/util/spilled_memory.h"

namespace mlrun::trace {

// A frame of a channel, of any type. Times are on the channel's clock, or in nanoseconds for a counters frame. A frame
// with min_end > max_end has no rows besides GPU work.
struct FrameNote {
  uint64_t offset = 0, channel = 0, seq = 0;
  uint64_t min_end = UINT64_MAX, max_end = 0, min_start = UINT64_MAX;  // of its rows
  uint64_t min_gpu_end_ns = UINT64_MAX, max_gpu_end_ns = 0;            // of GPU work: always nanoseconds
  uint64_t first = 0, last = 0;
  uint32_t payload_bytes = 0, rows = 0, lost = 0;
  uint16_t type = 0;
};

template <typename T>
struct OfChannel {
  uint64_t channel = 0;
  T value{};
};

struct StringNote {
  uint64_t id = 0;
  std::string_view text;  // in ChunkScan::texts
};
struct FragmentNote {
  uint64_t id = 0;
  uint32_t fragment = 0;
  bool last = false;
  std::string_view text;
};
// Child pid returned by fork and the like, in the parent's pid namespace.
struct ChildNote {
  uint64_t clock = 0;
  uint32_t pid = 0;
};
// A thread of the channel's process, by its tid as the process sees it. The channel's thread created it (`created`), or
// it ended a wait of that thread, so it was alive at `clock`.
struct ThreadNote {
  uint64_t clock = 0;
  uint32_t tid = 0;
  bool created = false;
};
// The stack's frames are those of ChunkScan::stack_frames from index `first` on, as the record has them.
struct StackNote {
  uint64_t id = 0;
  uint32_t first = 0, frames = 0, end = 0;
};
struct ProcessText {
  uint64_t clock = 0;
  std::string_view json;
};
// Totals of a channel at its last counters frame in the chunk.
struct CounterNote {
  uint64_t monotonic_ns = 0;
  decltype(mlrun_frame_counters::drops) drops = {};
  bool final = false;
};

// A name that linkat() gave to an unnamed file (O_TMPFILE). Opens by this name come later in the spool.
struct GivenNameNote {
  size_t files_before = 0;  // number of ChunkScan::files before it
  decode::GivenName given;
};

struct ChunkScan {
  std::vector<FrameNote> frames;
  std::vector<OfChannel<mlrun_frame_channel>> channels;
  std::vector<mlrun_frame_anchor> anchors;
  std::vector<OfChannel<CounterNote>> counters;
  std::vector<OfChannel<mlrun_frame_gap>> gaps;
  std::vector<OfChannel<mlrun_left_out>> left_out;
  std::vector<OfChannel<util::DropCounts>> drops;
  std::vector<ProcessText> process_texts;
  std::vector<std::string_view> gpu_texts;  // JSON
  std::vector<uint64_t> sample_frames;      // offsets in the spool
  std::vector<uint64_t> python_frames;      // offsets in the spool
  std::vector<mlrun_same_file> same_files;

  std::vector<StringNote, util::SpillAllocator<StringNote>> strings;
  std::vector<OfChannel<FragmentNote>> fragments;
  std::vector<decode::FileEvent, util::SpillAllocator<decode::FileEvent>> files;
  std::vector<decode::PathRef, util::SpillAllocator<decode::PathRef>> paths;
  std::vector<GivenNameNote> given_names;
  std::vector<OfChannel<decode::ProcessEvent>> processes;
  std::vector<OfChannel<decode::EndEvent>> ends;
  std::vector<OfChannel<decode::CommEvent>> comms;
  std::vector<OfChannel<ChildNote>> children;
  std::vector<OfChannel<ThreadNote>> threads;
  std::vector<OfChannel<decode::ChildEndEvent>> child_ends;
  std::vector<OfChannel<decode::RingEvent>> rings;
  std::vector<OfChannel<decode::SocketEvent>> sockets;
  std::vector<OfChannel<uint64_t>> failed_execs;  // start times
  std::vector<OfChannel<decode::ModuleEvent>> modules;
  std::vector<OfChannel<StackNote>> stacks;
  bool has_gpu_work = false;
  std::vector<OfChannel<decode::GpuDeviceEvent>> gpu_devices;
  std::vector<OfChannel<decode::GpuNoteEvent>> gpu_notes;
  std::vector<uint64_t> stack_frames;
  model::TextArena texts;

  std::vector<uint64_t> kept;  // kept_key() of each frame; only if kept.bin or sums.bin is scanned

  uint64_t damaged_file_bytes = 0;    // outside of frames with a correct checksum
  uint64_t damaged_record_bytes = 0;  // in frames with a correct checksum
  uint64_t unknown_records = 0, unknown_frames = 0;
};

// Frames whose definitions are also in kept.bin, by channel and sequence number.
using KeptFrames = util::FlatMap<uint8_t>;
inline uint64_t kept_key(uint64_t channel, uint64_t seq) { return util::scrambled(util::scrambled(channel), seq); }

// Scans the frames that begin in [begin, end). `kept`: frames whose definitions are known from kept.bin, so that only
// their rows are taken; nullptr: `fd` is kept.bin or sums.bin, which has no rows.
Result<ChunkScan> scan_chunk(int fd, uint64_t begin, uint64_t end, uint64_t spool_bytes, KeptFrames* kept);

}  // namespace mlrun::trace
