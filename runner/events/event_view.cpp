// SPDX-License-Identifier: Apache-2.0
#include "runner/events/event_view.h"

#include <algorithm>
#include <cstring>

namespace mlrun::events {

namespace {

constexpr uint32_t kBytesPerUnit = 15;  // of a string, behind the tag byte

// Value of a field that stores "value + 1, 0: not set".
int32_t minus_one(uint64_t field) { return static_cast<int32_t>(field) - 1; }

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
  process.rank = minus_one(w[MLRUN_PW_RANK] >> 8 & 0xfffff);
  process.local_rank = minus_one(w[MLRUN_PW_RANK] >> 28 & 0xffff);
  process.world_size = w[MLRUN_PW_RANK] >> 44 != 0 ? static_cast<int32_t>(w[MLRUN_PW_RANK] >> 44) : -1;
  process.arguments = w[MLRUN_PW_ARGUMENTS];
  process.pid_namespace = w[MLRUN_PW_NAMESPACE] >> 8;
  process.cgroup = w[MLRUN_PW_CGROUP];
  process.uid = static_cast<int64_t>(w[MLRUN_PW_UID] >> 8 & 0xffffffff);
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
  end.syscr = static_cast<int64_t>(w[4] >> 8);
  end.wchar = static_cast<int64_t>(w[5]);
  end.syscw = static_cast<int64_t>(w[6] >> 8);
  end.read_bytes = static_cast<int64_t>(w[7]);
  end.write_bytes = static_cast<int64_t>(w[8] >> 8);
  return true;
}

bool decode(const RecordView& record, CommEvent& comm) {
  if (record.units < 2) return false;
  comm.clock = record.words[1];
  comm.tid = record.arg;
  comm.name = record.words[3];
  return comm.name != 0;
}

void append_text(const StringEvent& fragment, std::string& text) {
  const auto* unit = reinterpret_cast<const char*>(fragment.words + 2);
  for (uint32_t left = fragment.bytes; left != 0; unit += MLRUN_UNIT_BYTES) {
    const uint32_t bytes = std::min(left, kBytesPerUnit);
    text.append(unit + 1, bytes);
    left -= bytes;
  }
}

}  // namespace mlrun::events
