// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/event_sums.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "runner/decode/call_fields.h"
#include "runner/decode/func_class.h"
#include "runner/decode/path_ref.h"
#include "runner/summary/meters/call_facts.h"
#include "runner/util/clock.h"

namespace mlrun::sums {

namespace {

using decode::CallEvent;
using decode::EventClass;
using decode::RecordView;

constexpr int64_t kErrnoMax = 4095;
constexpr uint64_t kDefinitionBytesMax = uint64_t{128} << 20;
constexpr size_t kThreadsMax = size_t{1} << 16;
constexpr size_t kProcessesMax = size_t{1} << 16;
constexpr size_t kOpenFreesMax = 8;      // per thread: several if signal handlers nest, or longjmp left a free
constexpr uint64_t kLateNs = 5'000'000;  // maximum usual delay between a log line's time stamp and its write
constexpr uint32_t kOwn = 1;             // bit of mlrun_sum.file_mode: an anonymous file (memfd, eventfd)
constexpr int kFileNumberShift = 8;
constexpr uint64_t kFileNumberMask = uint64_t{UINT32_MAX} << kFileNumberShift;

uint32_t type_of(const KnownFiles::File* file) {
  if (!file) return 0;
  return file->type | (file->type == 0 || (file->type == S_IFREG && file->is_channel) ? kOwn : 0);
}

model::FileKind kind_of(const KnownFiles::File* file) {
  if (!file) return model::FileKind::kUnknown;
  return file->is_channel ? model::FileKind::kPipe : model::FileKind::kRegular;
}

void set_file(uint64_t& word, uint32_t number) {
  word = (word & ~kFileNumberMask) | uint64_t{number} << kFileNumberShift;
}

// Stores in the cell the record that represents its sum: that of the first call, without files and paths if the sum has no detail. Files in it
// have the number whose description is kept (KnownFiles).
void describe(const RecordView& record, uint32_t open_file, KnownFiles& files, Cell& cell) {
  const auto units = std::min<uint32_t>(record.units, static_cast<uint32_t>(cell.record.size() / 2));
  std::memcpy(cell.record.data(), record.words, size_t{units} * MLRUN_UNIT_BYTES);
  cell.record[0] = mlrun_word0(1, units, record.kind, record.arg);
  cell.sum.record_units = static_cast<__u16>(units);
  CallEvent call;
  if (decode::class_of(record.kind) != EventClass::kCall || !decode::decode(record, call)) return;
  call.open_file = open_file;
  const bool detailed = (cell.sum.flags & MLRUN_SUM_NO_DETAIL) == 0;
  const KnownFiles::File* file = files.find(call.open_file);
  const uint32_t number = file ? file->number : call.open_file;  // not described yet: the description may come later
  if (call.open_file != 0 && (!detailed || number == 0)) cell.sum.flags |= MLRUN_SUM_NO_FILE;
  set_file(cell.record[6], detailed ? number : 0);
  if (!detailed) {
    for (size_t i = 5; i < cell.record.size(); i++) {
      if (i != 6) cell.record[i] = 0;
    }
    return;
  }
  if ((cell.sum.flags & MLRUN_SUM_NO_FILE) != 0 && call.on_path) cell.record[5] = cell.record[7] = 0;
  if (call.second_open_file != 0) set_file(cell.record[8], files.described(call.second_open_file));
  if (call.dirfd_file != 0) set_file(cell.record[8], files.described(call.dirfd_file));
  if (call.second_dirfd_file != 0) cell.record[9] = files.described(call.second_dirfd_file);
}

// Key of the call's file. The collector drains one thread after another, so a call on a file that another thread opened
// may come before the file's description; its key is then the number of the open file.
uint64_t file_key(const CallEvent& call, const KnownFiles::File* file, KnownFiles& files) {
  if (call.open_file != 0) {
    const uint64_t second = files.described(call.second_open_file);
    return (file ? file->number : call.open_file) | second << 32;
  }
  if (!call.on_path || call.path == 0) return 0;
  CallEvent described = call;
  described.dirfd_file = files.described(call.dirfd_file);
  described.second_dirfd_file = files.described(call.second_dirfd_file);
  const uint64_t key = decode::first_path(described).key();
  return call.second_path == 0 ? key : util::scrambled(key, decode::second_path(described).key());
}

}  // namespace

EventSums::EventSums(const EventSumsOptions& options)
    : options_(options),
      clock_(options.clock_kind),
      log_(options.mllog),
      definitions_(std::min(kDefinitionBytesMax, options.max_spool_bytes / 2)),
      timeline_(static_cast<int64_t>(util::monotonic_ns())),
      heaps_(options.alloc_min_bytes, clock_) {}

// Begins stretches at the times that the log has. Called before records are added up, so that the records after these
// times go into the new stretches.
void EventSums::poll_log() {
  for (const int64_t moment : log_.tail().poll()) {
    const uint64_t bound_ns = clock_.from_realtime(moment);
    if (bound_ns < clock_.first_ns() || bound_ns > INT64_MAX) continue;  // an earlier run wrote this line
    if (bound_ns + kLateNs < last_ns_) {
      left_out_.late_marks++;
      left_out_.late_ns = std::max(left_out_.late_ns, last_ns_ - bound_ns);
    }
    log_.expect(bound_ns, stretches_);
  }
}

void EventSums::take_records(const mlrun_frame& header, const char* payload, uint32_t bytes, std::vector<char>& kept) {
  poll_log();
  Source source;
  source.process = threads_.process_of(header.channel);
  source.channel = threads_.channel_of(source.process);
  source.shown = threads_.is_shown(header.channel);
  if (options_.alloc_times) source.open_frees = &open_frees_[header.channel];
  decode::RecordReader reader(reinterpret_cast<const uint64_t*>(payload), bytes, static_cast<uint8_t>(header.lap));
  log_.find(reader, clock_, stretches_);
  while (reader.next()) {
    const RecordView& record = reader.record();
    switch (decode::class_of(record.kind)) {
      case EventClass::kCall: add_call(record, source, kept); break;
      case EventClass::kAlloc: add_alloc(record, source); break;
      case EventClass::kFreeTime: add_free_time(record, source); break;
      // These streams are off with --summary-only: their records cannot be added up.
      case EventClass::kMark:
      case EventClass::kGpuWork:
      case EventClass::kGpuDevice:
      case EventClass::kGpuNote: break;
      case EventClass::kFile:
        if (decode::FileEvent file; log_.has_logs() && decode::decode(record, file)) log_.take(file);
        definitions_.take(record, source.process, kept);
        break;
      case EventClass::kProcess:
        if (decode::ProcessEvent process; decode::decode(record, process)) meet(process);
        definitions_.take(record, source.process, kept);
        break;
      case EventClass::kString:
      case EventClass::kEnd:
      case EventClass::kChildEnd:
      case EventClass::kRing:
      case EventClass::kSocket:
      case EventClass::kComm:
      case EventClass::kStack:
      case EventClass::kModule:
      case EventClass::kUnknown: definitions_.take(record, source.process, kept); break;
    }
  }
}

void EventSums::add_call(const RecordView& record, const Source& source, std::vector<char>& kept) {
  CallEvent call;
  if (!decode::decode(record, call)) return;
  records_++;
  const mlrun_call_class call_class = decode::class_of_func(call.func).value_or(MLRUN_CLASS_PROCESS);
  // Calls that create processes are kept as records, because the merger needs each of them for the process tree.
  if (call_class == MLRUN_CLASS_PROCESS && source.shown &&
      definitions_.take_room(uint64_t{record.units} * MLRUN_UNIT_BYTES)) {
    return Definitions::append(record.words, record.units, kept);
  }
  follow_mapping(call, source);
  model::CallRow row;
  decode::fill_fields(call, row);
  KnownFiles& files = definitions_.files();
  const KnownFiles::File* second = files.find(call.second_open_file);
  row.file2_kind = kind_of(second);
  const KnownFiles::File* file = files.find(call.open_file);
  row.file_kind = kind_of(file);
  row.file_id = file || (call.on_path && call.path != 0) ? 1 : 0;
  const summary::CallFacts facts = summary::call_facts(row, call_class);
  const uint64_t end = call.start > UINT64_MAX - call.duration ? UINT64_MAX : call.start + call.duration;
  const uint64_t end_ns = clock_.monotonic_ns(end);
  last_ns_ = std::max(last_ns_, end_ns);

  CellKey key{source.process, stretches_.at(end_ns), record.kind, static_cast<uint16_t>(row.err)};
  key.type = type_of(file);
  key.file = file_key(call, file, files);
  key.site = call.stack;
  bool made = false;
  Cell& cell = cells_.at(key, made);
  if (made) {
    describe(record, call.open_file, files, cell);
    cell.channel = source.channel;
  }
  Measures one;
  one.served_calls = static_cast<uint64_t>(std::max(row.served_calls, 1));
  one.moved = static_cast<uint64_t>(facts.bytes);
  const bool transfers = facts.is_read || facts.is_write;
  one.asked = !transfers ? UINT64_MAX : row.requested >= 0 ? static_cast<uint64_t>(row.requested) : one.moved;
  one.ticks = call.duration;
  one.ns = clock_.length_ns(call.duration);
  one.first = call.start;
  one.last = end;
  cell.add(one);
  if (log_.has_logs() && facts.is_write && !facts.is_read) {
    log_.take(call, clock_.monotonic_ns(call.start), facts.bytes);
  }
  if (facts.group == summary::Group::kFiles) {
    add_to_stretch(source, stretches_.at(end_ns), call, row, facts.is_read, facts.is_write);
  }
}

// Finds the file of calls on mapped memory, as the merger does for rows (mapping_files.h).
void EventSums::follow_mapping(CallEvent& call, const Source& source) {
  const uint64_t end = call.start + call.duration;
  const bool worked = call.result >= 0 || call.result < -kErrnoMax;
  if (call.func == events::func::k_mmap && worked) {
    mapped_.map(source.process, static_cast<uint64_t>(call.result), call.w3, call.open_file, end);
  }
  if (call.func == events::func::k_mremap && worked) {
    mapped_.remap(source.process, call.arg2, static_cast<uint64_t>(call.result), call.w3, end);
  }
  if (!trace::is_on_memory(call.func) || call.open_file != 0) return;
  call.open_file = static_cast<uint32_t>(mapped_.find(source.process, call.arg2));
  if (call.func == events::func::k_munmap && worked) mapped_.unmap(source.process, call.arg2, call.w3, call.start);
}

void EventSums::meet(const decode::ProcessEvent& process) {
  const auto parent = process_of_pid_.find(process.parent_pid);
  if (process.origin == MLRUN_PROCESS_FORKED && parent != process_of_pid_.end()) {
    mapped_.fork(parent->second, process.process);
  }
  if (process_of_pid_.size() < kProcessesMax || parent != process_of_pid_.end()) {
    process_of_pid_[process.pid] = process.process;
  }
}

void EventSums::add_to_stretch(const Source& source, uint32_t stretch, const CallEvent& call, const model::CallRow& row,
                               bool reads, bool writes) {
  const auto moved = std::max<int64_t>(row.ret, 0);
  const int64_t read = reads ? moved : 0, written = writes ? moved : 0;
  StretchSum& sum = stretches_.sum(source.process, stretch, source.channel);
  sum.calls++;
  sum.moved += static_cast<uint64_t>(read);
  sum.written += static_cast<uint64_t>(written);
  sum.ticks += call.duration;
  timeline_.add(static_cast<int64_t>(clock_.monotonic_ns(call.start)),
                static_cast<int64_t>(clock_.length_ns(call.duration)), read, written);
}

void EventSums::add_alloc(const RecordView& record, const Source& source) {
  decode::AllocEvent alloc;
  if (!decode::decode(record, alloc)) return;
  records_++;
  const uint64_t end = alloc.start > UINT64_MAX - alloc.duration ? UINT64_MAX : alloc.start + alloc.duration;
  const uint64_t end_ns = clock_.monotonic_ns(end);
  last_ns_ = std::max(last_ns_, end_ns);
  const bool failed = alloc.address == 0 && alloc.kind != MLRUN_FREE && alloc.size != 0;
  CellKey key{source.process, stretches_.at(end_ns), record.kind, static_cast<uint16_t>(failed ? ENOMEM : 0)};
  key.site = site_of(alloc);
  bool made = false;
  Cell& cell = cells_.at(key, made);
  if (made) {
    describe(record, 0, definitions_.files(), cell);
    cell.channel = source.channel;
  }
  Measures one;
  one.moved = one.asked = alloc.size;
  one.ticks = alloc.timed ? alloc.duration : 0;
  one.ns = alloc.timed ? clock_.length_ns(alloc.duration) : UINT64_MAX;
  one.first = alloc.start;
  one.last = end;
  cell.add(one);
  heaps_.add(source.process, source.channel, alloc, end);
  if (!source.open_frees || alloc.kind != MLRUN_FREE) return;
  if (source.open_frees->size() >= kOpenFreesMax) source.open_frees->erase(source.open_frees->begin());
  source.open_frees->push_back({alloc.start, key});
}

void EventSums::add_free_time(const RecordView& record, const Source& source) {
  decode::FreeTimeEvent time;
  if (!source.open_frees || !decode::decode(record, time)) return;
  const auto found = std::find_if(source.open_frees->rbegin(), source.open_frees->rend(),
                                  [&](const OpenFree& open) { return open.start == time.start; });
  if (found == source.open_frees->rend()) return;
  bool made = false;
  cells_.at(found->key, made).add_time(time.duration, clock_.length_ns(time.duration), time.start + time.duration);
  source.open_frees->erase(std::next(found).base());
}

bool EventSums::take_channel(const mlrun_frame& header, const char* payload, uint32_t bytes) {
  mlrun_frame_channel about{};
  if (bytes < sizeof about) return true;
  std::memcpy(&about, payload, sizeof about);
  const bool shown = threads_shown_ < kThreadsMax && definitions_.take_room(sizeof header + sizeof about);
  threads_shown_ += shown ? 1 : 0;
  left_out_.threads += shown ? 0 : 1;
  threads_.begin(header.channel, about.process, shown);
  return shown;
}

void EventSums::take_counters(const mlrun_frame& header, const char* payload, uint32_t bytes) {
  mlrun_frame_counters counters{};
  if (bytes < sizeof counters) return;
  std::memcpy(&counters, payload, sizeof counters);
  const size_t room = (bytes - sizeof counters) / sizeof(mlrun_counter_entry);
  std::vector<mlrun_counter_entry> entries(std::min<size_t>(counters.entries, room));
  if (!entries.empty()) std::memcpy(entries.data(), payload + sizeof counters, entries.size() * sizeof entries[0]);
  const uint32_t process = threads_.process_of(header.channel);
  const uint64_t channel = threads_.channel_of(process);
  for (const model::AllocSmallRow& row :
       threads_.count(header.channel, counters, entries.data(), static_cast<uint32_t>(entries.size()))) {
    heaps_.add(process, channel, row);
  }
  if (counters.final != 0) open_frees_.erase(header.channel);
  if (counters.final != 0 && threads_.end(header.channel)) heaps_.end(process);
}

// Reports that identify the process are kept in the spool. Of reports with its I/O counts, which come every two seconds,
// only the last one is kept, in io_.
bool EventSums::take_process(const mlrun_frame& header, const char* payload, uint32_t bytes) {
  const std::string_view text(payload, bytes);
  const bool identifies =
      text.find("\"modules\"") != std::string_view::npos || text.find("\"comm\"") != std::string_view::npos;
  if (identifies && definitions_.take_room(sizeof header + bytes)) return true;
  if (identifies) {
    left_out_.reports++;
    return false;
  }
  constexpr std::string_view kKey = "\"process\":";
  const size_t at = text.find(kKey);
  if (at == std::string_view::npos) return false;
  const auto process =
      static_cast<uint32_t>(std::strtoul(std::string(text.substr(at + kKey.size(), 11)).c_str(), nullptr, 10));
  if (io_.size() < kProcessesMax || io_.contains(process)) io_[process] = {header, std::string(text)};
  return false;
}

bool EventSums::take_report(const mlrun_frame& header, const char* payload, uint32_t bytes) {
  switch (static_cast<mlrun_frame_type>(header.type)) {
    case MLRUN_FRAME_CHANNEL: return take_channel(header, payload, bytes);
    case MLRUN_FRAME_PROCESS: return take_process(header, payload, bytes);
    case MLRUN_FRAME_COUNTERS: take_counters(header, payload, bytes); return false;
    case MLRUN_FRAME_DROPS: threads_.drop(header.channel, util::read_drops(payload, bytes)); return false;
    case MLRUN_FRAME_LEFT_OUT: {
      mlrun_frame_left_out left_out{};
      if (bytes >= sizeof left_out) {
        std::memcpy(&left_out, payload, sizeof left_out);
        threads_.leave_out(header.channel, left_out.totals);
      }
      return false;
    }
    case MLRUN_FRAME_ANCHOR: {
      mlrun_frame_anchor anchor{};
      if (bytes < sizeof anchor) return false;
      std::memcpy(&anchor, payload, sizeof anchor);
      clock_.add(anchor);
      return false;
    }
    case MLRUN_FRAME_GPU:
    case MLRUN_FRAME_SAMPLES:
    case MLRUN_FRAME_PYTHON:
    case MLRUN_FRAME_GAP:
      if (definitions_.take_room(sizeof header + bytes)) return true;
      left_out_.reports++;
      return false;
    case MLRUN_FRAME_INDEX:
    case MLRUN_FRAME_PAD:
    case MLRUN_FRAME_DATA:
    case MLRUN_FRAME_KEPT:
    case MLRUN_FRAME_SUMS:
    case MLRUN_FRAME_SUMS_STATE:
    case MLRUN_FRAME_SAME_FILE:
    case MLRUN_FRAME_TIMELINE:
    case MLRUN_FRAME_HEAP: return true;
  }
  return true;
}

}  // namespace mlrun::sums
