// SPDX-License-Identifier: Apache-2.0
// Moments that ranks of several nodes have in common: operations that each rank begins before any rank ends them. These are collectives, by
// communicator and number, and ranges that the user names as barriers. They are sorted in spilled memory, however many there are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/nodes/node_trace.h"
#include "runner/util/result.h"
#include "runner/util/spilled_sort.h"

namespace mlrun::nodes {

// One process's part in a common moment.
struct Moment {
  int64_t number = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // 0: unknown, such as for a collective whose kernel was not recorded
  uint32_t key = 0;
  uint32_t node = 0;
  int32_t proc_id = 0;
};

struct MomentOrder {
  bool operator()(const Moment& a, const Moment& b) const {
    const auto place = [](const Moment& one) {
      return std::tie(one.key, one.number, one.node, one.proc_id, one.begin_ns);
    };
    return place(a) < place(b);
  }
};

class Moments {
 public:
  struct Key {
    std::string name;       // communicator, or name of the marks
    std::string operation;  // or "mark"
    int32_t age = 0;        // of marks: Rank::age of the process
    [[nodiscard]] bool is_mark() const { return operation == "mark"; }
    auto operator<=>(const Key&) const = default;
  };

  uint32_t number_of(const Key& key);
  void add(const Moment& moment) { sorted_.add(moment); }

  [[nodiscard]] const Key& key(uint32_t number) const { return keys_[number]; }
  // Changes the number of node i to numbers[i]; with kLeftOut its moments are skipped.
  void renumber(std::vector<size_t> numbers) { numbers_ = std::move(numbers); }
  static constexpr size_t kLeftOut = SIZE_MAX;

  // Calls take(moments) for each key and number, in their order: one moment of each process, by node.
  template <typename Take>
  void for_each_group(Take take) {
    auto pass = sorted_.pass();
    std::vector<Moment> group;
    for (const Moment* next = pass.next(); next != nullptr; next = pass.next()) {
      const bool is_same = !group.empty() && group.back().key == next->key && group.back().number == next->number;
      if (!is_same) {
        if (!group.empty()) take(static_cast<const std::vector<Moment>&>(group));
        group.clear();
      }
      Moment moment = *next;
      if (!numbers_.empty()) {
        if (numbers_[moment.node] == kLeftOut) continue;
        moment.node = static_cast<uint32_t>(numbers_[moment.node]);
      }
      if (!group.empty() && group.back().node == moment.node && group.back().proc_id == moment.proc_id) {
        group.back() = moment;
      } else {
        group.push_back(moment);
      }
    }
    if (!group.empty()) take(static_cast<const std::vector<Moment>&>(group));
  }

 private:
  std::map<Key, uint32_t> numbers_of_keys_;
  std::vector<Key> keys_;
  util::SpilledSort<Moment, MomentOrder> sorted_;
  std::vector<size_t> numbers_;  // new numbers of nodes; empty: unchanged
};

// Adds the collectives that no rank leaves before all have entered. `number`: of the node.
Status add_collectives(const NodeTrace& node, size_t number, Moments& moments);

// Adds the ranges of this name, numbered in each process. Returns their count by proc_id; fails if there are none.
Result<std::map<int32_t, int64_t>> add_marks(const NodeTrace& node, size_t number, const std::string& name,
                                             Moments& moments);

}  // namespace mlrun::nodes
