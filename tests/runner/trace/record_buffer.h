// SPDX-License-Identifier: Apache-2.0
// Writes records as a recording thread does (runner/events/record.h), for tests of what reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/events/call_layout.h"
#include "runner/events/record.h"

namespace mlrun {
inline constexpr uint64_t kMillisecond = 1'000'000;  // in ns, the unit of times in records
}

namespace mlrun::testing {

struct DescriptorCall {
  uint16_t func = events::func::k_read;
  uint64_t start = 0, duration = 0;
  int32_t fd = 3;
  uint64_t requested = 0;
  int64_t result = 0;
  uint64_t offset = MLRUN_NO_OFFSET;
  uint32_t open_file = 0, flags = 0;
  uint64_t arg2 = 0;
};

struct PathCall {
  uint16_t func = events::func::k_open;
  uint64_t start = 0, duration = 0;
  int32_t fd = 3;  // result or dirfd
  uint64_t w3 = 0;
  int64_t result = 3;
  uint64_t path = 0, second_path = 0;
  uint32_t open_file = 0, flags = 0;
  uint32_t dirfd_file = 0, second_dirfd_file = 0;
  uint64_t cwd = 0;
};

struct Allocation {
  uint16_t kind = MLRUN_MALLOC;
  uint64_t start = 0;
  uint64_t address = 0x7f0000001000, size = 4096, usable = 4104, site = 0x7f1234567890;
  uint64_t duration = 0, align = 0;  // with a duration or an alignment the record has three units
  uint64_t old_address = 0, old_usable = 0;
};

struct OpenFileRecord {
  uint32_t number = 1, device = 0x801;
  uint64_t inode = 0;
  uint32_t mode = 0100644, origin = MLRUN_ORIGIN_OPENED;
  uint64_t path = 0, cwd = 0;
  uint32_t dirfd_file = 0;
};

struct ProcessRecord {
  uint64_t clock = 0;
  uint32_t pid = 0, parent_pid = 0, process = 1, image = 1, origin = MLRUN_PROCESS_LOADED;
  uint64_t start_ticks = 0, pid_namespace = 77;
  uint64_t exe = 0, arguments = 0, cgroup = 0, cwd = 0, allocator = 0;
  uint32_t uid = 1000;
  int32_t rank = -1, local_rank = -1, world_size = -1;
  uint32_t launcher = 0;
  bool malloc_in_front = false;
};

struct EndRecord {
  uint64_t clock = 0;
  uint64_t rchar = 0, syscr = 0, wchar = 0, syscw = 0;
};

// A mark of NVTX with a structured payload, or without one.
struct MarkRecord {
  uint16_t kind = MLRUN_MARK_PUSH;
  uint64_t clock = 0;
  uint64_t domain = 0;  // string id
  std::string_view name;
  bool has_structure = false;
  uint64_t layout = 0;  // string id
  std::string_view structure;
};

class RecordBuffer {
 public:
  explicit RecordBuffer(uint8_t lap = 1) : lap_(lap) {}

  void add(const DescriptorCall& call);
  void add(const PathCall& call);
  void add(const Allocation& allocation);
  void add(const OpenFileRecord& file);
  void add(const ProcessRecord& process);
  void add(const EndRecord& end);
  void add(const MarkRecord& mark);
  // How long the free at `clock` took.
  void add_free_time(uint64_t clock, uint64_t duration) {
    add_record(MLRUN_FREE_TIME, mlrun_short_duration(duration), {0, clock});
  }
  void add_comm(uint64_t clock, uint32_t tid, uint64_t name);
  // Defines the string and returns its id. Texts longer than a record's room become several fragments.
  uint64_t add_string(std::string_view text);
  void add_pad();
  // Units of zeros: begun and never finished.
  void add_hole(size_t units);
  void add_child_end(uint64_t clock, uint32_t pid, int32_t status);
  void add_ring(uint64_t clock, enum mlrun_ring what, uint32_t operation = 0);
  // Any words; the first one gets tag, units, kind and arg.
  void add_record(uint16_t kind, uint32_t arg, std::vector<uint64_t> words);

  [[nodiscard]] const std::vector<uint64_t>& words() const { return words_; }
  [[nodiscard]] std::vector<uint64_t>& words() { return words_; }
  [[nodiscard]] uint32_t bytes() const { return static_cast<uint32_t>(words_.size() * sizeof(uint64_t)); }
  [[nodiscard]] uint8_t lap() const { return lap_; }
  void clear() { words_.clear(); }

 private:
  uint8_t lap_;
  std::vector<uint64_t> words_;
};

}  // namespace mlrun::testing
