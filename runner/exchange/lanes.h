// SPDX-License-Identifier: Apache-2.0
// Distributes the rows of a track to lanes so that, on each, they nest, or do not overlap at all. Viewers drop a slice that
// crosses another one on its track.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace mlrun::exchange {

// Rows that may contain each other. Requires: they come in the order of their begin, of equal ones the longer first.
class NestingLanes {
 public:
  struct Open {
    int64_t end;
    int64_t key;  // of the caller
  };
  // Returns the first lane, from `from` on, on which [ts, end) crosses no open row. On the lanes that it tries, it closes the rows that
  // have ended by `ts`, and calls closed(lane, end) for each, innermost first.
  template <typename Closed>
  size_t place(int64_t ts, int64_t end, int64_t key, size_t from, Closed closed) {
    for (size_t lane = from;; ++lane) {
      while (lane >= lanes_.size()) lanes_.emplace_back();
      std::vector<Open>& open = lanes_[lane];
      close_until(lane, ts, closed);
      if (!open.empty() && open.back().end < end) continue;
      open.push_back({end, key});
      return lane;
    }
  }
  // Whether a row with this key is open on the first lane at `ts`.
  [[nodiscard]] bool has_open(int64_t ts, int64_t key) const {
    if (lanes_.empty()) return false;
    for (const Open& open : lanes_.front()) {
      if (open.key == key && open.end > ts) return true;
    }
    return false;
  }
  // Closes the rows on the first lane that have ended by `ts`.
  template <typename Closed>
  void close_first(int64_t ts, Closed closed) {
    if (!lanes_.empty()) close_until(0, ts, closed);
  }
  template <typename Closed>
  void close_all(Closed closed) {
    for (size_t lane = 0; lane < lanes_.size(); ++lane) close_until(lane, INT64_MAX, closed);
  }

 private:
  template <typename Closed>
  void close_until(size_t lane, int64_t ts, Closed closed) {
    std::vector<Open>& open = lanes_[lane];
    for (; !open.empty() && open.back().end <= ts; open.pop_back()) closed(lane, open.back().end);
  }

  std::vector<std::vector<Open>> lanes_;
};

// Rows that neither overlap nor contain each other. Requires: they come in the order of their begin.
class ApartLanes {
 public:
  size_t place(int64_t ts, int64_t end) {
    while (!busy_.empty() && busy_.top().end <= ts) {
      free_.push(busy_.top().lane);
      busy_.pop();
    }
    size_t lane = lanes_;
    if (free_.empty()) {
      ++lanes_;
    } else {
      lane = free_.top();
      free_.pop();
    }
    busy_.push({end, lane});
    return lane;
  }

 private:
  struct Busy {
    int64_t end;
    size_t lane;
    bool operator>(const Busy& other) const { return end > other.end; }
  };
  size_t lanes_ = 0;
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> free_;  // the lowest first
};

}  // namespace mlrun::exchange
