// SPDX-License-Identifier: Apache-2.0
// Reads the positions of the loops that a thread is in. Looks for iterators in local variables and value stacks of the thread's outermost
// frames, and for the iterators that these iterate over in turn. Only for CPython 3.11, whose structures are hard-coded here.
//
//   frame ─▶ enumerate ─▶ generator ─▶ its frame ─▶ DataLoader's iterator ─▶ attributes ─▶ sampler's generator ─▶ range: 24 of 400
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runner/samplers/python/code_cache.h"
#include "runner/samplers/python/interpreter_file.h"
#include "runner/samplers/python/remote_memory.h"

namespace mlrun::python {

class LoopReader {
 public:
  struct Frame {
    uint64_t slots = 0;  // address: local variables, then the value stack
    const Code* code = nullptr;
    bool is_generator = false;
  };

  // `types`: addresses in the traced process. `memory` and `codes` must outlive this object.
  LoopReader(const LoopTypes& types, RemoteMemory& memory, CodeCache& codes)
      : types_(types), memory_(memory), codes_(codes) {}

  // `frames`: outermost first. Returns one `PLACE KIND@ADDRESS POSITION/TOTAL` for each iterator, separated by `; `; empty: no loops.
  // KIND `loader`: a DataLoader's iterator, which has no position. PLACE: FILE:LINE of the function, the slot in its frame, then the
  // path from there to the iterator. A `!` at the end: the iterator belongs to a generator that is running.
  std::string read(const std::vector<Frame>& frames);

 private:
  // Bytes read of an object: kHeadBytes, of which the first kBefore are before its address.
  static constexpr size_t kBefore = 32, kHeadBytes = 96;

  struct Node {
    uint64_t slot = 0, object = 0;
    std::string place;
    bool runs = false;  // it belongs to a generator that is running
  };
  struct Type {
    bool has_next = false;  // instances are iterators written in Python, or hold one (DatasetFetcher)
    std::string name;
  };
  using Head = std::array<char, kHeadBytes>;

  void read_slots(const Frame& frame, const std::string& before, std::vector<Node>& nodes);
  void read_heads(const std::vector<Node>& nodes, std::vector<std::optional<Head>>& heads);
  void visit(const Node& node, const Head& head, std::vector<Node>& next);
  void visit_list(const Node& node, const Head& head);
  void visit_generator(const Node& node, std::vector<Node>& next);
  void visit_tuple(const Node& node, uint64_t tuple, std::vector<Node>& next);
  // Visits an instance of a Python class. False: it is not an iterator.
  bool visit_instance(const Node& node, const Head& head, std::vector<Node>& next);
  const Type& type_at(uint64_t address);
  void add(const Node& node, const char* kind, int64_t position, int64_t total);

  LoopTypes types_;
  RemoteMemory& memory_;
  CodeCache& codes_;
  std::unordered_map<uint64_t, Type> known_types_;
  std::unordered_set<uint64_t> others_;  // pairs of a slot and an object in it that is not an iterator
  std::unordered_set<uint64_t> visited_;
  std::string text_;
  size_t count_ = 0, reads_ = 0;
};

}  // namespace mlrun::python
