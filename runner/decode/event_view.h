// SPDX-License-Identifier: Apache-2.0
// The only decoder of records (record.h): iterates over the payload of a data frame and returns checked values. Input
// is untrusted: no read leaves the payload, and malformed records are counted and skipped.
//
//   RecordReader reader(words, count, lap);
//   while (reader.next()) switch (class_of(reader.record().kind)) { case EventClass::kCall: CallEvent call; if
//   (decode(...)) ...
//
// Clock values and durations are in the channel's unit (ticks or nanoseconds). Only append_text() allocates.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runner/events/arena.h"
#include "runner/events/call_layout.h"
#include "runner/events/record.h"
#include "runner/events/remap.h"

namespace mlrun::decode {

enum class EventClass : uint8_t {
  kCall,
  kAlloc,
  kFreeTime,
  kString,
  kFile,
  kProcess,
  kEnd,
  kChildEnd,
  kRing,
  kSocket,
  kComm,
  kStack,
  kModule,
  kMark,
  kGpuWork,
  kGpuDevice,
  kGpuNote,
  kUnknown
};

// One record in the payload; `words` has units * 2 elements.
struct RecordView {
  uint16_t kind = 0;
  uint32_t units = 0;
  uint32_t arg = 0;
  const uint64_t* words = nullptr;

  [[nodiscard]] uint64_t clock() const { return words[1]; }
};

struct ReadTally {
  uint64_t records = 0;
  uint64_t hole_bytes = 0;     // units without a record: begun and never finished
  uint64_t damaged_bytes = 0;  // records that break the arena's rules
};

class RecordReader {
 public:
  // Requires: `payload` is 8-byte aligned and outlives the reader. A tail shorter than a unit is skipped as a hole.
  RecordReader(const uint64_t* payload, size_t bytes, uint8_t lap)
      : at_(payload), end_(payload + bytes / MLRUN_UNIT_BYTES * 2), lap_(lap) {
    tally_.hole_bytes = bytes % MLRUN_UNIT_BYTES;
  }

  // Advances to the next record; false at the end.
  bool next() {
    while (at_ < end_) {
      const uint64_t word = *at_;
      if ((word & 0xff) != lap_ || lap_ == 0) {
        skip((word & 0xff) == 0 ? tally_.hole_bytes : tally_.damaged_bytes);
        continue;
      }
      if ((word >> 16 & 0xffff) == MLRUN_PAD) {
        at_ = end_;
        return false;
      }
      const auto units = static_cast<uint32_t>(word >> 8 & 0xff);
      if (!is_whole(units)) {
        skip(tally_.damaged_bytes);
        continue;
      }
      record_ = {static_cast<uint16_t>(word >> 16), units, static_cast<uint32_t>(word >> 32), at_};
      at_ += size_t{units} * 2;
      ++tally_.records;
      return true;
    }
    return false;
  }

  [[nodiscard]] const RecordView& record() const { return record_; }
  [[nodiscard]] const ReadTally& tally() const { return tally_; }

 private:
  // Whether the record fits and none of its other units carries a tag.
  [[nodiscard]] bool is_whole(uint32_t units) const {
    if (units == 0 || units > static_cast<size_t>(end_ - at_) / 2) return false;
    uint64_t tags = 0;
    for (uint32_t unit = 1; unit < units; ++unit) tags |= at_[size_t{unit} * 2];
    return (tags & 0xff) == 0;
  }
  void skip(uint64_t& counter) {
    counter += MLRUN_UNIT_BYTES;
    at_ += 2;
  }

  const uint64_t* at_;
  const uint64_t* end_;
  uint8_t lap_;
  RecordView record_;
  ReadTally tally_;
};

inline EventClass class_of(uint16_t kind) {
  if (kind >= MLRUN_CALL) return EventClass::kCall;
  if (kind >= MLRUN_MALLOC) return kind < MLRUN_ALLOC_END ? EventClass::kAlloc : EventClass::kUnknown;
  if (kind >= MLRUN_GPU_API && kind < MLRUN_GPU_WORK_END) return EventClass::kGpuWork;
  if (kind == MLRUN_GPU_DEVICE) return EventClass::kGpuDevice;
  if (kind == MLRUN_GPU_NOTE) return EventClass::kGpuNote;
  if (kind == MLRUN_FREE_TIME) return EventClass::kFreeTime;
  if (kind >= MLRUN_MARK_PUSH) return kind < MLRUN_MARKS_END ? EventClass::kMark : EventClass::kUnknown;
  if (kind == MLRUN_STRING) return EventClass::kString;
  if (kind == MLRUN_FILE) return EventClass::kFile;
  if (kind == MLRUN_PROCESS) return EventClass::kProcess;
  if (kind == MLRUN_END) return EventClass::kEnd;
  if (kind == MLRUN_CHILD_END) return EventClass::kChildEnd;
  if (kind == MLRUN_RING) return EventClass::kRing;
  if (kind == MLRUN_SOCKET) return EventClass::kSocket;
  if (kind == MLRUN_STACK) return EventClass::kStack;
  if (kind == MLRUN_MODULE) return EventClass::kModule;
  return kind == MLRUN_COMM ? EventClass::kComm : EventClass::kUnknown;
}

struct CallEvent {
  uint16_t func = 0;  // number in hooks.def
  bool on_path = false;
  uint32_t flags = 0;      // enum mlrun_call_flag
  int32_t arg = -1;        // the call's descriptor, the new descriptor, or the dirfd
  uint32_t open_file = 0;  // number of the open file; 0: none
  uint64_t start = 0, duration = 0;
  int64_t result = 0;                 // the result, or -errno
  uint64_t w3 = 0;                    // see hooks.def
  uint64_t offset = MLRUN_NO_OFFSET;  // calls on a descriptor
  uint64_t arg2 = 0;
  uint64_t path = 0, second_path = 0, cwd = 0;  // of calls on a path: string ids, 0: none
  uint32_t dirfd_file = 0, second_dirfd_file = 0;
  uint32_t second_open_file = 0;  // of calls on two descriptors: the second open file; 0: none
  uint64_t second_offset = MLRUN_NO_OFFSET;
  std::optional<uint64_t> wanted_address;  // mmap, mremap; none: the call has no such argument
  std::optional<uint64_t> mapped_by;  // mmap: return address of the call; mremap: the old length; none: not recorded
  uint32_t remap_flags = 0;
  uint64_t stack = 0;  // id of the call's stack; 0: none
};

struct AllocEvent {
  uint16_t kind = 0;   // enum mlrun_kind
  bool timed = false;  // the record has a duration
  uint64_t start = 0, duration = 0;
  uint64_t address = 0, site = 0;  // site 0: taken from the stack
  uint64_t stack = 0;              // id of the stack; 0: none
  uint64_t size = 0, usable = 0;   // usable: equals `size` if unknown
  uint64_t align = 0;
  uint64_t old_address = 0, old_usable = 0;
};

// Duration of the free recorded at `start`, earlier on the same channel.
struct FreeTimeEvent {
  uint64_t start = 0, duration = 0;
};

struct StringEvent {
  uint64_t id = 0;
  uint32_t bytes = 0, fragment = 0;
  bool last = false;
  const uint64_t* words = nullptr;  // of the record, from w0 on
};

struct FileEvent {
  uint32_t number = 0, device = 0, origin = 0, mode = 0, flags = 0, dirfd_file = 0;
  uint64_t inode = 0, path = 0, cwd = 0;
};

struct ProcessEvent {
  uint32_t pid = 0, parent_pid = 0, origin = 0;
  uint32_t process = 0, image = 0;
  uint64_t clock = 0, start_ticks = 0, pid_namespace = 0;
  uint64_t exe = 0, arguments = 0, cgroup = 0, cwd = 0, allocator = 0;
  int64_t uid = -1;
  int32_t rank = -1, local_rank = -1, world_size = -1;
  uint32_t launcher = 0;         // enum mlrun_launcher: where the rank comes from
  bool own_new = false;          // operator new is the allocator's own
  bool malloc_in_front = false;  // it precedes mlrun's library, whose hooks get no call
};

struct EndEvent {
  uint64_t clock = 0;
  int32_t rank = -1, local_rank = -1, world_size = -1;  // those that the process set for itself
  int64_t exit_status = 0;
  int64_t rchar = 0, syscr = 0, wchar = 0, syscw = 0, read_bytes = 0, write_bytes = 0;  // -1: unknown
};

struct ChildEndEvent {
  uint64_t clock = 0;
  uint32_t pid = 0;    // in the pid namespace of the process that waited
  int32_t status = 0;  // wait status
};

struct RingEvent {
  uint32_t what = 0;  // enum mlrun_ring
  uint32_t operation = 0;
};

// Addresses as in struct sockaddr; empty: unknown.
struct SocketEvent {
  uint32_t open_file = 0;
  uint64_t clock = 0, duration = 0;  // of the call that connected or accepted the socket
  bool accepted = false;
  uint32_t peer_pid =
      0;  // accepted, AF_UNIX: of the process that connected, in the acceptor's pid namespace; 0: unknown
  std::string own, other;
};

struct CommEvent {
  uint64_t clock = 0;
  uint32_t tid = 0;
  uint64_t name = 0;
};

struct StackEvent {
  uint64_t id = 0;
  uint32_t frames = 0, end = 0;     // enum mlrun_stack_end
  const uint64_t* words = nullptr;  // of the record

  // Requires: index < frames.
  [[nodiscard]] uint64_t frame(uint32_t index) const { return words[2 + index] >> (index % 2 == 0 ? 8 : 0); }
};

struct ModuleEvent {
  uint32_t number = 0;
  uint64_t start = 0, end = 0, bias = 0, file_offset = 0;
  uint64_t path = 0;     // string id
  std::string build_id;  // bytes
};

struct MarkEvent {
  uint16_t kind = 0;  // MLRUN_MARK_...
  uint32_t source = 0, payload_type = 0, category = 0;
  uint64_t clock = 0, domain = 0, range = 0;
  uint64_t payload = 0;                       // of a structure: string id of the structure's layout
  uint32_t structure_bytes = 0;               // of MLRUN_PAYLOAD_STRUCTURE
  const uint64_t* structure_words = nullptr;  // in units like text_words
  uint32_t text_bytes = 0;
  const uint64_t* text_words = nullptr;  // units of 15 text bytes, each after a tag byte
};

// False if the record is too short for its kind. Requires: the record's class matches the type of the second argument.
inline bool decode(const RecordView& record, CallEvent& call) {
  if (record.units < 4) return false;
  const uint64_t* w = record.words;
  call.func = static_cast<uint16_t>(record.kind - MLRUN_CALL);
  call.on_path = events::has_path_layout(call.func);
  call.flags = static_cast<uint32_t>(w[6] >> 40 & 0xffff);
  call.arg = static_cast<int32_t>(record.arg);
  call.open_file = static_cast<uint32_t>(w[6] >> 8);
  call.start = w[1];
  call.duration = w[2] >> 8;
  call.result = mlrun_whole_result(w[4], w[6]);
  call.w3 = w[3];
  call.offset = call.on_path ? MLRUN_NO_OFFSET : w[5];
  call.arg2 = call.on_path ? 0 : w[7];
  call.path = call.on_path ? w[7] : 0;
  call.second_path = call.on_path ? w[5] : 0;
  const bool has_stack = (call.flags & MLRUN_CALL_STACK) != 0 && record.units >= 5;
  const uint32_t units = record.units - (has_stack ? 1 : 0);
  call.stack = has_stack ? w[size_t{units} * 2 + 1] : 0;
  const bool has_dirfds = call.on_path && units >= 5;
  call.dirfd_file = has_dirfds ? static_cast<uint32_t>(w[8] >> 8) : 0;
  call.second_dirfd_file = has_dirfds ? static_cast<uint32_t>(w[9]) : 0;
  call.cwd = call.on_path && units >= 6 ? w[11] : 0;
  const bool is_wide = !call.on_path && units >= 5, has_second = is_wide && !events::maps(call.func);
  call.second_open_file = has_second ? static_cast<uint32_t>(w[8] >> 8) : 0;
  call.second_offset = has_second ? w[9] : MLRUN_NO_OFFSET;
  const uint64_t remap = is_wide && call.func == events::func::k_mremap ? w[8] >> 8 : 0;
  call.remap_flags = static_cast<uint32_t>(remap >> MLRUN_REMAP_FLAGS_SHIFT);
  const uint64_t caller = is_wide && call.func == events::func::k_mmap ? w[8] >> 8 : 0;
  const uint64_t old_bytes = remap & ((uint64_t{1} << MLRUN_REMAP_FLAGS_SHIFT) - 1);
  call.mapped_by = (remap | caller) != 0 ? std::optional(old_bytes | caller) : std::nullopt;
  const bool has_wanted = is_wide && !has_second && (remap == 0 || (call.remap_flags & MREMAP_FIXED) != 0);
  call.wanted_address = has_wanted ? std::optional(w[9]) : std::nullopt;
  return true;
}

inline bool decode(const RecordView& record, AllocEvent& alloc) {
  if (record.units < 2) return false;
  const uint64_t* w = record.words;
  constexpr uint64_t kSizeMask = (uint64_t{1} << 48) - 1, kAddressMask = (uint64_t{1} << 52) - 1;
  const bool resizes = record.kind == MLRUN_REALLOC || record.kind == MLRUN_REALLOCARRAY;
  if (resizes && record.units < 4) return false;
  alloc.kind = record.kind;
  alloc.start = w[1];
  alloc.address = (w[2] & kAddressMask) >> 5;
  alloc.size = w[3] & kSizeMask;
  const uint64_t site = w[3] >> 48 << 32 | record.arg;
  const bool has_stack = (site & MLRUN_SITE_IS_STACK) != 0;
  alloc.site = has_stack ? 0 : site;
  alloc.stack = has_stack ? site & MLRUN_STACK_ID_MASK : 0;
  const bool is_long = record.units >= 3;
  alloc.duration = resizes ? w[6] >> 8 : is_long ? w[4] >> 8 : 0;
  alloc.timed = resizes || alloc.duration != 0;
  alloc.align = !resizes && is_long ? w[5] & kSizeMask : 0;
  const uint64_t pages = resizes ? w[7] & 0xffff : is_long ? w[5] >> 48 : 0;
  alloc.usable = alloc.size + (w[2] >> 52) + (pages << 12);
  alloc.old_address = resizes ? w[4] >> 5 : 0;
  alloc.old_usable = resizes ? w[5] : 0;
  return true;
}

inline bool decode(const RecordView& record, FreeTimeEvent& time) {
  time.start = record.clock();
  time.duration = mlrun_whole_duration(record.arg);
  return true;
}

bool decode(const RecordView& record, StringEvent& string);
bool decode(const RecordView& record, FileEvent& file);
bool decode(const RecordView& record, ProcessEvent& process);
bool decode(const RecordView& record, EndEvent& end);
bool decode(const RecordView& record, ChildEndEvent& end);
bool decode(const RecordView& record, RingEvent& ring);
bool decode(const RecordView& record, SocketEvent& socket);
bool decode(const RecordView& record, CommEvent& comm);
bool decode(const RecordView& record, StackEvent& stack);
bool decode(const RecordView& record, ModuleEvent& module);
bool decode(const RecordView& record, MarkEvent& mark);

// The end of a call or allocation, the start of a free, or the time of a mark, on the channel's clock. Returns false if the record is too short.
inline bool end_clock(const RecordView& record, uint64_t& clock) {
  uint64_t duration = 0;
  if (class_of(record.kind) == EventClass::kMark) {
    MarkEvent mark;
    if (!decode(record, mark)) return false;
  } else if (class_of(record.kind) == EventClass::kCall) {
    CallEvent call;
    if (!decode(record, call)) return false;
    duration = call.duration;
  } else {
    AllocEvent alloc;
    if (!decode(record, alloc)) return false;
    duration = alloc.duration;
  }
  clock = record.clock() > UINT64_MAX - duration ? UINT64_MAX : record.clock() + duration;
  return true;
}

// Appends the fragment's bytes to `text`.
void append_text(const StringEvent& fragment, std::string& text);
void append_text(const MarkEvent& mark, std::string& text);
void append_structure(const MarkEvent& mark, std::string& bytes);

}  // namespace mlrun::decode
