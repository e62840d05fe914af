// SPDX-License-Identifier: Apache-2.0
// Converts stack definitions of processes to stacks of the trace: frames by library and offset, equal ones stored once.
// A stack's definition may precede its library's, if another thread wrote the latter; the stack then waits. Bounded:
// stacks beyond the limits are counted and stay unknown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/decode/event_view.h"
#include "runner/model/stack_table.h"
#include "runner/trace/identity/module_map.h"
#include "runner/trace/spool/chunk_scan.h"
#include "runner/trace/spool/string_table.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

struct KnownStack {
  int32_t stack_id = 0;  // 0: unknown
  uint64_t site = 0;     // return address of its innermost frame in that process
};

class StackIndex {
 public:
  // Fills `table`, which outlives the index.
  explicit StackIndex(model::StackTable& table) : table_(table) {}

  // Requires: in the order of the spool. `process`: the producers' number; `frames`: as in the record.
  void add(uint32_t process, const decode::ModuleEvent& module);
  void add(uint32_t process, const StackNote& stack, const uint64_t* frames);

  // Call after the last add(). Sets the libraries' paths, and adds them to `modules`.
  void finish(StringTable& strings, ModuleMap& modules);

  // Thread-safe after finish().
  [[nodiscard]] KnownStack find(uint32_t process, uint64_t id) const;

  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  struct Module {
    decode::ModuleEvent event;
    uint32_t file = 0;  // index + 1 in table_.files
  };
  struct Waiting {
    uint32_t process = 0;
    StackNote stack;
    std::vector<uint64_t> frames;
  };
  using Key = std::pair<uint32_t, uint32_t>;  // process, module

  bool modules_known(uint32_t process, const uint64_t* frames, uint32_t count) const;
  void intern(uint32_t process, const StackNote& stack, const uint64_t* frames);
  int32_t frame_id(uint32_t process, uint64_t word);
  int32_t stack_id(const std::vector<int32_t>& frames, uint8_t end);
  uint32_t file_of(const decode::ModuleEvent& module);
  uint64_t address_of(uint32_t process, uint64_t word) const;

  model::StackTable& table_;
  std::map<Key, Module> modules_;
  std::map<std::pair<uint64_t, std::string>, uint32_t> files_;  // by path id and build id
  std::vector<uint64_t> paths_;                                 // path ids of table_.files
  std::vector<Waiting> waiting_;
  size_t waiting_frames_ = 0;
  mutable util::FlatMap<KnownStack> known_;
  util::FlatMap<int32_t> frame_ids_, stack_ids_;
  std::vector<int32_t> spare_;
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::trace
