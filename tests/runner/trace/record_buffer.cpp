// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/trace/record_buffer.h"

#include <algorithm>
#include <cstring>

#include "runner/events/arena.h"
#include "runner/events/content_hash.h"

namespace mlrun::testing {

namespace {
constexpr size_t kBytesPerUnit = 15;

uint64_t shifted(int64_t value) { return static_cast<uint64_t>(value) << 8; }

// In units of 15 bytes behind a byte that stays free.
void append_units(std::vector<uint64_t>& words, std::string_view text) {
  const size_t first = words.size();
  words.resize(first + (text.size() + kBytesPerUnit - 1) / kBytesPerUnit * 2);
  for (size_t at = 0; at < text.size(); at += kBytesPerUnit) {
    auto* unit = reinterpret_cast<char*>(&words[first + at / kBytesPerUnit * 2]);
    std::memcpy(unit + 1, text.data() + at, std::min(kBytesPerUnit, text.size() - at));
  }
}
}  // namespace

void RecordBuffer::add_record(uint16_t kind, uint32_t arg, std::vector<uint64_t> words) {
  words[0] = mlrun_word0(lap_, words.size() / 2, kind, arg);
  words_.insert(words_.end(), words.begin(), words.end());
}

void RecordBuffer::add(const DescriptorCall& call) {
  add_record(static_cast<uint16_t>(MLRUN_CALL + call.func), static_cast<uint32_t>(call.fd),
             {0, call.start, call.duration << 8, call.requested, shifted(call.result), call.offset,
              uint64_t{call.open_file} << 8 | uint64_t{call.flags} << 40 | mlrun_result_top(call.result), call.arg2});
}

void RecordBuffer::add(const PathCall& call) {
  std::vector<uint64_t> words = {
      0,
      call.start,
      call.duration << 8,
      call.w3,
      shifted(call.result),
      call.second_path,
      uint64_t{call.open_file} << 8 | uint64_t{call.flags} << 40 | mlrun_result_top(call.result),
      call.path};
  if (call.dirfd_file != 0 || call.second_dirfd_file != 0 || call.cwd != 0) {
    words.push_back(uint64_t{call.dirfd_file} << 8);
    words.push_back(call.second_dirfd_file);
  }
  if (call.cwd != 0) {
    words.push_back(0);
    words.push_back(call.cwd);
  }
  add_record(static_cast<uint16_t>(MLRUN_CALL + call.func), static_cast<uint32_t>(call.fd), std::move(words));
}

void RecordBuffer::add(const Allocation& a) {
  const uint64_t excess = std::min<uint64_t>(a.usable - a.size, 4095);
  std::vector<uint64_t> words = {0, a.start, a.address << 5 | excess << 52, a.size | a.site >> 32 << 48};
  if (a.kind == MLRUN_REALLOC || a.kind == MLRUN_REALLOCARRAY) {
    words.insert(words.end(), {a.old_address << 5, a.old_usable, a.duration << 8, 0});
  } else if (a.duration != 0 || a.align != 0) {
    words.insert(words.end(), {a.duration << 8, a.align});
  }
  add_record(a.kind, static_cast<uint32_t>(a.site), std::move(words));
}

void RecordBuffer::add(const OpenFileRecord& file) {
  add_record(MLRUN_FILE, file.number,
             {0, 0, uint64_t{file.device} << 8 | uint64_t{file.origin} << 40, file.inode, uint64_t{file.mode} << 8,
              file.path, uint64_t{file.dirfd_file} << 8, file.cwd});
}

void RecordBuffer::add(const ProcessRecord& process) {
  std::vector<uint64_t> words(MLRUN_PW_WORDS);
  words[1] = process.clock;
  words[MLRUN_PW_ORIGIN] = uint64_t{process.origin} << 8 | uint64_t{process.parent_pid} << 32;
  words[MLRUN_PW_NUMBERS] = process.process | uint64_t{process.image} << 32;
  words[MLRUN_PW_START] = process.start_ticks << 8;
  words[MLRUN_PW_EXE] = process.exe;
  words[MLRUN_PW_RANK] = static_cast<uint64_t>(process.rank + 1) << 8 |
                         static_cast<uint64_t>(process.local_rank + 1) << 28 |
                         static_cast<uint64_t>(std::max(process.world_size, 0)) << 44;
  words[MLRUN_PW_ARGUMENTS] = process.arguments;
  words[MLRUN_PW_NAMESPACE] = process.pid_namespace << 8;
  words[MLRUN_PW_CGROUP] = process.cgroup;
  words[MLRUN_PW_UID] = uint64_t{process.uid} << 8 | uint64_t{process.malloc_in_front} << 42;
  words[MLRUN_PW_CWD] = process.cwd;
  words[MLRUN_PW_LAUNCHER] = uint64_t{process.launcher} << 8;
  words[MLRUN_PW_ALLOCATOR] = process.allocator;
  add_record(MLRUN_PROCESS, process.pid, std::move(words));
}

void RecordBuffer::add(const EndRecord& end) {
  add_record(MLRUN_END, 0, {0, end.clock, 0, end.rchar, end.syscr << 8, end.wchar, end.syscw << 8, 0, 0, 0});
}

void RecordBuffer::add_child_end(uint64_t clock, uint32_t pid, int32_t status) {
  add_record(MLRUN_CHILD_END, pid, {0, clock, uint64_t{static_cast<uint32_t>(status)} << 8, 0});
}

void RecordBuffer::add_ring(uint64_t clock, enum mlrun_ring what, uint32_t operation) {
  add_record(MLRUN_RING, 5, {0, clock, uint64_t{what} << 8 | uint64_t{operation} << 16, 0});
}

void RecordBuffer::add(const MarkRecord& mark) {
  std::vector<uint64_t> words = {0, mark.clock, 0, mark.domain};
  if (mark.has_structure) {
    words.push_back(uint64_t{MLRUN_PAYLOAD_STRUCTURE} << 40 | uint64_t{mark.structure.size()} << 48);
    words.push_back(mark.layout);
    append_units(words, mark.structure);
  }
  append_units(words, mark.name);
  const auto arg =
      static_cast<uint32_t>(mark.name.size()) | uint32_t{MLRUN_MARK_NVTX} << 16 | uint32_t{mark.has_structure} << 24;
  add_record(mark.kind, arg, std::move(words));
}

void RecordBuffer::add_comm(uint64_t clock, uint32_t tid, uint64_t name) {
  add_record(MLRUN_COMM, tid, {0, clock, 0, name});
}

uint64_t RecordBuffer::add_string(std::string_view text) {
  const uint64_t id = mlrun_content_hash(text.data(), text.size());
  uint32_t fragment = 0;
  do {
    const std::string_view part = text.substr(0, MLRUN_STRING_FRAGMENT_BYTES);
    text.remove_prefix(part.size());
    std::vector<uint64_t> words = {0, id};
    append_units(words, part);
    const auto arg = static_cast<uint32_t>(part.size()) | fragment << 16 | uint32_t{text.empty()} << 24;
    add_record(MLRUN_STRING, arg, std::move(words));
    ++fragment;
  } while (!text.empty());
  return id;
}

void RecordBuffer::add_pad() {
  words_.push_back(mlrun_word0(lap_, 0, MLRUN_PAD, 0));
  words_.push_back(0);
}

void RecordBuffer::add_hole(size_t units) { words_.resize(words_.size() + units * 2); }

}  // namespace mlrun::testing
