// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/event_view.h"

#include <algorithm>
#include <cstring>

namespace mlrun::decode {

namespace {

constexpr uint32_t kBytesPerUnit = 15;  // bytes of text after the tag byte

void append_units(const uint64_t* words, uint32_t left, std::string& text) {
  for (const auto* unit = reinterpret_cast<const char*>(words); left != 0; unit += MLRUN_UNIT_BYTES) {
    const uint32_t bytes = std::min(left, kBytesPerUnit);
    text.append(unit + 1, bytes);
    left -= bytes;
  }
}

// Decodes a field that stores "value + 1; 0: not set".
int32_t minus_one(uint64_t field) { return static_cast<int32_t>(field) - 1; }

// Decodes the numbers in words MLRUN_PW_RANK and MLRUN_EW_RANK.
template <typename Event>
void set_ranks(uint64_t word, Event& event) {
  event.rank = minus_one(word >> 8 & 0xfffff);
  event.local_rank = minus_one(word >> 28 & 0xffff);
  event.world_size = word >> 44 != 0 ? static_cast<int32_t>(word >> 44) : -1;
}

}  // namespace

bool decode(const RecordView& record, StringEvent& string) {
  string.id = record.words[1];
  string.bytes = record.arg & 0xffff;
  string.fragment = record.arg >> 16 & 0xff;
  string.last = (record.arg >> 24 & 1) != 0;
  string.words = record.words;
  return string.id != 0 && string.bytes <= (record.units - 1) * kBytesPerUnit;
}

bool decode(const RecordView& record, FileEvent& file) {
  if (record.units < 4) return false;
  const uint64_t* w = record.words;
  file.number = record.arg;
  file.device = static_cast<uint32_t>(w[2] >> 8);
  file.origin = static_cast<uint32_t>(w[2] >> 40);
  file.inode = w[3];
  file.mode = static_cast<uint32_t>(w[4] >> 8);
  file.flags = static_cast<uint32_t>(w[4] >> 40);
  file.path = w[5];
  file.dirfd_file = static_cast<uint32_t>(w[6] >> 8);
  file.cwd = w[7];
  return file.number != 0;
}

bool decode(const RecordView& record, ProcessEvent& process) {
  if (record.units < MLRUN_PW_WORDS / 2) return false;
  const uint64_t* w = record.words;
  process.pid = record.arg;
  process.clock = w[1];
  process.origin = static_cast<uint32_t>(w[MLRUN_PW_ORIGIN] >> 8 & 0xffffff);
  process.parent_pid = static_cast<uint32_t>(w[MLRUN_PW_ORIGIN] >> 32);
  process.process = static_cast<uint32_t>(w[MLRUN_PW_NUMBERS]);
  process.image = static_cast<uint32_t>(w[MLRUN_PW_NUMBERS] >> 32);
  process.start_ticks = w[MLRUN_PW_START] >> 8;
  process.exe = w[MLRUN_PW_EXE];
  set_ranks(w[MLRUN_PW_RANK], process);
  process.launcher = static_cast<uint32_t>(w[MLRUN_PW_LAUNCHER] >> 8);
  process.arguments = w[MLRUN_PW_ARGUMENTS];
  process.pid_namespace = w[MLRUN_PW_NAMESPACE] >> 8;
  process.cgroup = w[MLRUN_PW_CGROUP];
  process.uid = static_cast<int64_t>(w[MLRUN_PW_UID] >> 8 & 0xffffffff);
  process.own_new = (w[MLRUN_PW_UID] >> 41 & 1) != 0;
  process.malloc_in_front = (w[MLRUN_PW_UID] >> 42 & 1) != 0;
  process.cwd = w[MLRUN_PW_CWD];
  process.allocator = w[MLRUN_PW_ALLOCATOR];
  return process.process != 0;
}

bool decode(const RecordView& record, EndEvent& end) {
  if (record.units < 5) return false;
  const uint64_t* w = record.words;
  end.clock = w[1];
  end.exit_status = static_cast<int64_t>(w[2] >> 8);
  end.rchar = static_cast<int64_t>(w[3]);
  end.wchar = static_cast<int64_t>(w[5]);
  end.read_bytes = static_cast<int64_t>(w[7]);
  // Arithmetic shift: keeps -1 (unknown).
  end.syscr = static_cast<int64_t>(w[4]) >> 8;
  end.syscw = static_cast<int64_t>(w[6]) >> 8;
  end.write_bytes = static_cast<int64_t>(w[8]) >> 8;
  set_ranks(w[MLRUN_EW_RANK], end);
  return true;
}

bool decode(const RecordView& record, ChildEndEvent& end) {
  if (record.units < 2) return false;
  end.clock = record.words[1];
  end.pid = record.arg;
  end.status = static_cast<int32_t>(record.words[2] >> 8);
  return end.pid != 0;
}

bool decode(const RecordView& record, RingEvent& ring) {
  if (record.units < 2) return false;
  ring.what = static_cast<uint32_t>(record.words[2] >> 8 & 0xff);
  ring.operation = static_cast<uint32_t>(record.words[2] >> 16 & 0xff);
  return ring.what != 0;
}

bool decode(const RecordView& record, SocketEvent& socket) {
  if (record.units < 2) return false;
  const uint64_t* w = record.words;
  const auto own = static_cast<uint32_t>(w[2] >> 8 & 0xff), other = static_cast<uint32_t>(w[2] >> 16 & 0xff);
  if (own + other > (record.units - 2) * kBytesPerUnit) return false;
  socket.open_file = record.arg;
  socket.clock = record.clock();
  socket.duration = w[3];
  socket.accepted = (w[2] >> 24 & 1) != 0;
  socket.peer_pid = static_cast<uint32_t>(w[2] >> 32);
  std::string both;
  append_units(w + 4, own + other, both);
  socket.own = both.substr(0, own);
  socket.other = both.substr(own);
  return socket.open_file != 0;
}

bool decode(const RecordView& record, CommEvent& comm) {
  if (record.units < 2) return false;
  comm.clock = record.words[1];
  comm.tid = record.arg;
  comm.name = record.words[3];
  return comm.name != 0;
}

bool decode(const RecordView& record, StackEvent& stack) {
  stack.id = record.words[1];
  stack.frames = record.arg & 0xff;
  stack.end = record.arg >> 8 & 0xff;
  stack.words = record.words;
  const bool fits = stack.frames != 0 && stack.frames <= (record.units - 1) * 2;
  return fits && stack.id != 0 && stack.id <= MLRUN_STACK_ID_MASK && stack.frames <= MLRUN_STACK_DEPTH_MAX;
}

bool decode(const RecordView& record, ModuleEvent& module) {
  if (record.units < 6) return false;
  const uint64_t* w = record.words;
  module.number = record.arg;
  module.start = w[2] >> 8;
  module.end = w[3];
  module.bias = w[4] >> 8;
  module.path = w[5];
  module.file_offset = w[6] >> 8 & ((uint64_t{1} << 48) - 1);
  const uint64_t id[3] = {w[7], w[9], w[11]};
  module.build_id.assign(reinterpret_cast<const char*>(id), std::min<size_t>(w[6] >> 56, sizeof id));
  return module.number != 0 && module.end > module.start;
}

bool decode(const RecordView& record, MarkEvent& mark) {
  if (record.units < 2) return false;
  const uint64_t* w = record.words;
  mark.kind = record.kind;
  mark.clock = w[1];
  mark.source = record.arg >> 16 & 0xff;
  mark.range = w[2] >> 8;
  mark.domain = w[3];
  const bool has_payload = (record.arg >> 24 & 1) != 0;
  const bool ends = record.kind == MLRUN_MARK_POP || record.kind == MLRUN_MARK_END;
  if (ends && !has_payload) return true;
  uint32_t text_unit = has_payload ? 3 : 2;
  if (record.units < text_unit) return false;
  mark.category = has_payload ? static_cast<uint32_t>(w[4] >> 8) : 0;
  mark.payload_type = has_payload ? static_cast<uint32_t>(w[4] >> 40 & 0xff) : 0;
  mark.payload = has_payload ? w[5] : 0;
  if (mark.payload_type == MLRUN_PAYLOAD_STRUCTURE) {
    mark.structure_bytes = static_cast<uint32_t>(w[4] >> 48);
    mark.structure_words = w + size_t{text_unit} * 2;
    text_unit += (mark.structure_bytes + kBytesPerUnit - 1) / kBytesPerUnit;
    if (record.units < text_unit) return false;
  }
  if (ends) return true;
  mark.text_bytes = record.arg & 0xffff;
  mark.text_words = w + size_t{text_unit} * 2;
  return mark.text_bytes <= (record.units - text_unit) * kBytesPerUnit;
}

void append_text(const StringEvent& fragment, std::string& text) {
  append_units(fragment.words + 2, fragment.bytes, text);
}

void append_text(const MarkEvent& mark, std::string& text) { append_units(mark.text_words, mark.text_bytes, text); }

void append_structure(const MarkEvent& mark, std::string& bytes) {
  append_units(mark.structure_words, mark.structure_bytes, bytes);
}

}  // namespace mlrun::decode
