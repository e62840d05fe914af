// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/chunk_scan.h"

#include <algorithm>

#include "runner/decode/call_fields.h"
#include "runner/events/content_hash.h"
#include "runner/trace/spool/sum_cursor.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

namespace {

using decode::EventClass;
using decode::RecordView;

class ChunkScanner {
 public:
  explicit ChunkScanner(KeptFrames* kept) : kept_(kept) {}
  void add(const SpoolFrame& frame);
  ChunkScan take(uint64_t damaged_file_bytes) {
    scan_.damaged_file_bytes = damaged_file_bytes;
    return std::move(scan_);
  }

 private:
  std::string_view keep_payload(const SpoolFrame& frame);
  void add_content(const SpoolFrame& frame, FrameNote& note);
  void add_data(const SpoolFrame& frame, FrameNote& note);
  void add_row(const RecordView& record, FrameNote& note);
  void add_gpu_work(const RecordView& record, FrameNote& note);
  void add_free_time(const RecordView& record, FrameNote& note);
  void add_call(const RecordView& record, const FrameNote& note);
  void add_threads(const decode::CallEvent& call, uint64_t channel);
  void add_path(const decode::PathRef& path);
  void add_paths(const decode::CallEvent& call);
  void add_sums(const SpoolFrame& frame);
  void add_same_files(const SpoolFrame& frame);
  void add_meaning(const RecordView& record, uint64_t channel);
  void add_string(const RecordView& record, uint64_t channel);
  void add_stack(const RecordView& record, uint64_t channel);
  void add_counters(const SpoolFrame& frame, FrameNote& note);
  template <typename T, typename Add>
  void add_struct(const SpoolFrame& frame, T value, Add add);

  KeptFrames* kept_;
  bool is_known_ = false;  // kept.bin has the current frame's definitions, so only its rows are taken
  ChunkScan scan_;
  util::FlatMap<uint8_t, util::SpillAllocator> seen_strings_, seen_paths_;
  util::FlatMap<uint32_t> counter_index_, ender_index_;
  decode::CallEvent blank_call_;  // copied with a few wide moves; constructing one costs more than decoding it
};

FrameNote note_of(const SpoolFrame& frame) {
  FrameNote note;
  note.offset = frame.offset;
  note.channel = frame.header.channel;
  note.seq = frame.header.seq;
  note.first = frame.header.first;
  note.last = frame.header.last;
  note.payload_bytes = frame.header.payload_bytes;
  note.lost = frame.header.lost;
  note.type = frame.header.type;
  return note;
}

// Notes every frame of a channel, since the channel's sequence numbers are checked. Frames of the collector itself
// (channel 0) get no note.
void ChunkScanner::add(const SpoolFrame& frame) {
  FrameNote note = note_of(frame);
  const uint64_t key = kept_key(note.channel, note.seq);
  is_known_ = kept_ && kept_->size() != 0 && kept_->find(key);
  if (!kept_) scan_.kept.push_back(key);
  add_content(frame, note);
  if (note.channel != 0 && kept_) scan_.frames.push_back(note);
}

void ChunkScanner::add_content(const SpoolFrame& frame, FrameNote& note) {
  switch (static_cast<mlrun_frame_type>(frame.header.type)) {
    case MLRUN_FRAME_INDEX:
    case MLRUN_FRAME_PAD: return;
    case MLRUN_FRAME_DATA: return add_data(frame, note);
    case MLRUN_FRAME_COUNTERS: return add_counters(frame, note);
    case MLRUN_FRAME_ANCHOR:
      return add_struct(frame, mlrun_frame_anchor{}, [&](const auto& anchor) { scan_.anchors.push_back(anchor); });
    case MLRUN_FRAME_KEPT: return add_data(frame, note);
    case MLRUN_FRAME_CHANNEL:
      if (is_known_) return;
      return add_struct(frame, mlrun_frame_channel{}, [&](const auto& about) {
        scan_.channels.push_back({note.channel, about});
      });
    case MLRUN_FRAME_GAP:
      if (is_known_) return;
      return add_struct(frame, mlrun_frame_gap{}, [&](const auto& gap) { scan_.gaps.push_back({note.channel, gap}); });
    case MLRUN_FRAME_LEFT_OUT:
      return add_struct(frame, mlrun_frame_left_out{}, [&](const auto& left_out) {
        scan_.left_out.push_back({note.channel, left_out.totals});
      });
    case MLRUN_FRAME_DROPS:
      scan_.drops.push_back(
          {note.channel, util::read_drops(reinterpret_cast<const char*>(frame.payload), frame.header.payload_bytes)});
      return;
    case MLRUN_FRAME_SUMS: return add_sums(frame);
    case MLRUN_FRAME_SAME_FILE: return add_same_files(frame);
    case MLRUN_FRAME_SUMS_STATE:
    case MLRUN_FRAME_TIMELINE:
    case MLRUN_FRAME_HEAP: return;  // read by runner/trace/merge/sums_file.h
    case MLRUN_FRAME_PROCESS:
      if (is_known_) return;
      scan_.process_texts.push_back({frame.header.first, keep_payload(frame)});
      return;
    case MLRUN_FRAME_GPU:
      if (is_known_) return;
      scan_.gpu_texts.push_back(keep_payload(frame));
      return;
    case MLRUN_FRAME_SAMPLES: scan_.sample_frames.push_back(frame.offset); return;
    case MLRUN_FRAME_PYTHON: scan_.python_frames.push_back(frame.offset); return;
  }
  ++scan_.unknown_frames;
}

std::string_view ChunkScanner::keep_payload(const SpoolFrame& frame) {
  return scan_.texts.keep({reinterpret_cast<const char*>(frame.payload), frame.header.payload_bytes});
}

template <typename T, typename Add>
void ChunkScanner::add_struct(const SpoolFrame& frame, T value, Add add) {
  if (frame.read(value)) {
    add(value);
  } else {
    ++scan_.unknown_frames;
  }
}

void ChunkScanner::add_data(const SpoolFrame& frame, FrameNote& note) {
  decode::RecordReader reader(frame.payload, frame.header.payload_bytes, static_cast<uint8_t>(frame.header.lap));
  while (reader.next()) {
    const RecordView& record = reader.record();
    const EventClass event_class = decode::class_of(record.kind);
    const bool is_row =
        event_class == EventClass::kCall || event_class == EventClass::kAlloc || event_class == EventClass::kMark;
    if (is_row) {
      add_row(record, note);
    } else if (event_class == EventClass::kGpuWork) {
      add_gpu_work(record, note);
    } else if (event_class == EventClass::kFreeTime) {
      add_free_time(record, note);
    } else if (!is_known_) {
      add_meaning(record, note.channel);
    }
  }
  scan_.damaged_record_bytes += reader.tally().damaged_bytes;
}

void ChunkScanner::add_row(const RecordView& record, FrameNote& note) {
  uint64_t end = 0;
  if (!decode::end_clock(record, end)) {
    scan_.damaged_record_bytes += uint64_t{record.units} * MLRUN_UNIT_BYTES;
    return;
  }
  ++note.rows;
  note.min_end = std::min(note.min_end, end);
  note.max_end = std::max(note.max_end, end);
  note.min_start = std::min(note.min_start, record.clock());
  if (decode::class_of(record.kind) == EventClass::kCall) add_call(record, note);
}

void ChunkScanner::add_gpu_work(const RecordView& record, FrameNote& note) {
  uint64_t end_ns = 0;
  if (!decode::gpu_end_ns(record, end_ns)) {
    scan_.damaged_record_bytes += uint64_t{record.units} * MLRUN_UNIT_BYTES;
    return;
  }
  scan_.has_gpu_work = true;
  ++note.rows;
  note.min_gpu_end_ns = std::min(note.min_gpu_end_ns, end_ns);
  note.max_gpu_end_ns = std::max(note.max_gpu_end_ns, end_ns);
  note.min_start = std::min(note.min_start, record.clock());
  note.max_end = std::max(note.max_end, record.clock());
}

// The duration of a free has the free's clock. It makes no row, but counts as one, so that the slice of time with the
// free also reads this frame.
void ChunkScanner::add_free_time(const RecordView& record, FrameNote& note) {
  ++note.rows;
  note.min_end = std::min(note.min_end, record.clock());
  note.max_end = std::max(note.max_end, record.clock());
  note.min_start = std::min(note.min_start, record.clock());
}

void ChunkScanner::add_call(const RecordView& record, const FrameNote& note) {
  decode::CallEvent call = blank_call_;
  if (!decode::decode(record, call)) return;
  add_paths(call);
  add_threads(call, note.channel);
  const bool makes_child = call.func == events::func::k_fork || call.func == events::func::k_vfork ||
                           call.func == events::func::k_posix_spawn;
  if (makes_child && call.result > 0 && call.result <= INT32_MAX) {
    scan_.children.push_back({note.channel, {call.start, static_cast<uint32_t>(call.result)}});
  }
  if (call.func == events::func::k_linkat && call.result == 0 && call.dirfd_file != 0) {
    scan_.given_names.push_back({scan_.files.size(), {call.dirfd_file, decode::second_path(call)}});
  }
  if (call.func == events::func::k_execve && call.result < 0) scan_.failed_execs.push_back({note.channel, call.start});
}

// Per channel and tid, notes only the latest wait that this thread ended. After a pthread_create that returned the tid,
// the tid means a new thread, so the next wait gets a new note.
void ChunkScanner::add_threads(const decode::CallEvent& call, uint64_t channel) {
  constexpr uint32_t kNone = UINT32_MAX;
  const bool creates = call.func == events::func::k_pthread_create && call.result == 0 && call.arg2 - 1 < UINT32_MAX;
  const uint32_t tid = creates ? static_cast<uint32_t>(call.arg2) : decode::ender_of(call);
  if (tid == 0) return;
  bool made = false;
  uint32_t& index = ender_index_.at(util::scrambled(util::scrambled(channel), tid), &made);
  if (creates) {
    index = kNone;
    scan_.threads.push_back({channel, {call.start, tid, true}});
    return;
  }
  if (made || index == kNone) {
    index = static_cast<uint32_t>(scan_.threads.size());
    scan_.threads.push_back({channel, {0, tid, false}});
  }
  ThreadNote& noted = scan_.threads[index].value;
  noted.clock =
      std::max(noted.clock, call.start > UINT64_MAX - call.duration ? UINT64_MAX : call.start + call.duration);
}

void ChunkScanner::add_paths(const decode::CallEvent& call) {
  if (!call.on_path) return;
  if (call.path != 0 && call.open_file == 0) add_path(decode::first_path(call));
  if (call.second_path != 0) add_path(decode::second_path(call));
}

void ChunkScanner::add_sums(const SpoolFrame& frame) {
  SumCursor sums(frame);
  decode::CallEvent call;
  while (sums.next()) {
    const RecordView* record = sums.record();
    const bool is_call = record && decode::class_of(record->kind) == EventClass::kCall;
    if (is_call && decode::decode(*record, call)) add_paths(call);
  }
  scan_.damaged_record_bytes += sums.damaged_bytes();
}

void ChunkScanner::add_same_files(const SpoolFrame& frame) {
  mlrun_same_file same{};
  for (uint32_t at = 0; frame.read(same, at); at += sizeof same) scan_.same_files.push_back(same);
}

void ChunkScanner::add_path(const decode::PathRef& path) {
  bool made = false;
  seen_paths_.at(path.key(), &made);
  if (made) scan_.paths.push_back(path);
}

void ChunkScanner::add_meaning(const RecordView& record, uint64_t channel) {
  const auto keep = [&](auto event, auto& list) {
    if (decode::decode(record, event)) {
      list.push_back({channel, event});
    } else {
      scan_.damaged_record_bytes += uint64_t{record.units} * MLRUN_UNIT_BYTES;
    }
  };
  switch (decode::class_of(record.kind)) {
    case EventClass::kString: return add_string(record, channel);
    case EventClass::kProcess: return keep(decode::ProcessEvent{}, scan_.processes);
    case EventClass::kEnd: return keep(decode::EndEvent{}, scan_.ends);
    case EventClass::kChildEnd: return keep(decode::ChildEndEvent{}, scan_.child_ends);
    case EventClass::kRing: return keep(decode::RingEvent{}, scan_.rings);
    case EventClass::kSocket: return keep(decode::SocketEvent{}, scan_.sockets);
    case EventClass::kComm: return keep(decode::CommEvent{}, scan_.comms);
    case EventClass::kModule: return keep(decode::ModuleEvent{}, scan_.modules);
    case EventClass::kStack: return add_stack(record, channel);
    case EventClass::kGpuDevice: return keep(decode::GpuDeviceEvent{}, scan_.gpu_devices);
    case EventClass::kGpuNote: return keep(decode::GpuNoteEvent{}, scan_.gpu_notes);
    case EventClass::kFile: {
      decode::FileEvent file;
      if (decode::decode(record, file)) scan_.files.push_back(file);
      return;
    }
    case EventClass::kUnknown: ++scan_.unknown_records; return;
    case EventClass::kCall:
    case EventClass::kAlloc:
    case EventClass::kFreeTime:
    case EventClass::kGpuWork:
    case EventClass::kMark: return;
  }
}

// Every process defines the strings it uses, so most definitions are already known.
void ChunkScanner::add_string(const RecordView& record, uint64_t channel) {
  decode::StringEvent string;
  if (!decode::decode(record, string)) {
    scan_.damaged_record_bytes += uint64_t{record.units} * MLRUN_UNIT_BYTES;
    return;
  }
  const bool whole = string.fragment == 0 && string.last;
  const uint64_t key = util::scrambled(string.id);
  if (whole && seen_strings_.find(key)) return;
  std::string text;
  decode::append_text(string, text);
  if (!whole) {
    scan_.fragments.push_back({channel, {string.id, string.fragment, string.last, scan_.texts.keep(text)}});
    return;
  }
  if (mlrun_content_hash(text.data(), text.size()) != string.id) {
    scan_.damaged_record_bytes += uint64_t{record.units} * MLRUN_UNIT_BYTES;
    return;
  }
  seen_strings_.at(key) = 1;
  scan_.strings.push_back({string.id, scan_.texts.keep(text)});
}

void ChunkScanner::add_stack(const RecordView& record, uint64_t channel) {
  decode::StackEvent stack;
  if (!decode::decode(record, stack)) {
    scan_.damaged_record_bytes += uint64_t{record.units} * MLRUN_UNIT_BYTES;
    return;
  }
  const auto first = static_cast<uint32_t>(scan_.stack_frames.size());
  for (uint32_t i = 0; i < stack.frames; ++i) scan_.stack_frames.push_back(stack.frame(i));
  scan_.stacks.push_back({channel, {stack.id, first, stack.frames, stack.end}});
}

void ChunkScanner::add_counters(const SpoolFrame& frame, FrameNote& note) {
  mlrun_frame_counters counters{};
  if (!frame.read(counters)) {
    ++scan_.unknown_frames;
    return;
  }
  note.rows = std::min<uint32_t>(counters.entries, note.payload_bytes / sizeof(mlrun_counter_entry));
  note.min_end = note.max_end = counters.monotonic_ns;

  bool made = false;
  uint32_t& index = counter_index_.at(util::scrambled(note.channel), &made);
  if (made) {
    index = static_cast<uint32_t>(scan_.counters.size());
    scan_.counters.push_back({note.channel, {}});
  }
  CounterNote& totals = scan_.counters[index].value;
  totals.monotonic_ns = counters.monotonic_ns;
  std::copy(std::begin(counters.drops), std::end(counters.drops), totals.drops);
  totals.final = totals.final || counters.final != 0;
}

}  // namespace

Result<ChunkScan> scan_chunk(int fd, uint64_t begin, uint64_t end, uint64_t spool_bytes, KeptFrames* kept) {
  SpoolCursor cursor(fd, begin, end, spool_bytes);
  ChunkScanner scanner(kept);
  SpoolFrame frame;
  for (;;) {
    const auto more = cursor.next(frame);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return scanner.take(cursor.damaged_bytes());
    scanner.add(frame);
  }
}

}  // namespace mlrun::trace
