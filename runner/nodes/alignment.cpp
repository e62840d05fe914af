// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/alignment.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "runner/nodes/moment_pairs.h"
#include "runner/util/units.h"

namespace mlrun::nodes {

namespace {

// Bounds and matched events of two nodes, the lower number first.
struct Pair {
  OffsetBounds bounds;
  size_t messages = 0, collectives = 0, marks = 0;
  [[nodiscard]] bool is_common() const { return messages + collectives + marks > 0; }
};

// The clock of node `to` relative to that of node `from`.
struct Edge {
  size_t from = 0, to = 0;
  NodeClock clock;
  int64_t cost_ns = 0;
};

constexpr size_t kLeftOut = Moments::kLeftOut;

int64_t middle_of(const NodeTrace& node) { return node.start_ns + (node.end_ns - node.start_ns) / 2; }

class Aligner {
 public:
  Aligner(NodeTraces& traces, const AlignmentOptions& options)
      : traces_(traces), nodes_(traces.nodes), options_(options) {}

  Result<Alignment> align() {
    if (Status read = read_streams(); !read) return tl::make_unexpected(read.error());
    if (Status read = read_moments(); !read) return tl::make_unexpected(read.error());
    for (auto& [who, pair] : pairs_) add_pair(who.first, who.second, pair);
    add_same_clocks();
    for (size_t to = 1; to < nodes_.size(); ++to) add_utc(to);
    if (options_.offset_ns) take_given();
    find_paths();
    leave_out_unrelated();
    return std::move(result_);
  }

 private:
  Pair& pair_of(size_t a, size_t b) { return pairs_[{a, b}]; }
  [[nodiscard]] int64_t readings_error(size_t a, size_t b) const { return nodes_[a].error_ns + nodes_[b].error_ns; }

  Status read_streams() {
    auto connections = find_connections(nodes_);
    if (!connections) return tl::make_unexpected(connections.error());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (Status read = read_transfers(nodes_[i], i, *connections); !read) return read;
    }
    for (const Connection& one : *connections) {
      const size_t a = one.node[0], b = one.node[1];
      if (nodes_[a].lost_events || nodes_[b].lost_events) continue;  // a lost call shifts all later bytes
      Pair& pair = pair_of(a, b);
      pair.messages += add_bounds(one, readings_error(a, b), pair.bounds);
      pair.bounds.reduce();
    }
    for (const auto& [who, pair] : pairs_) compare_boots(who.first, who.second, pair);
    for (Connection& one : *connections) {
      for (StreamEnd& end : one.end) end.sent.list = end.received.list = {};
    }
    result_.connections = *std::move(connections);
    return {};
  }

  // Machines started from one snapshot have the same boot id but different clocks: messages between them would arrive before they were sent,
  // and their wall clocks differ by as much. Bytes sent past the hooks can shift a stream, but not a wall clock, so both are required.
  void compare_boots(size_t a, size_t b, const Pair& pair) {
    if (nodes_[a].clock_key().empty() || nodes_[a].clock_key() != nodes_[b].clock_key()) return;
    int64_t backwards_ns = 0;
    for (const OffsetBound& bound : pair.bounds.upper) backwards_ns = std::max(backwards_ns, -bound.offset_ns);
    for (const OffsetBound& bound : pair.bounds.lower) backwards_ns = std::max(backwards_ns, bound.offset_ns);
    const auto utc_a = nodes_[a].utc_offset_ns(false), utc_b = nodes_[b].utc_offset_ns(false);
    if (backwards_ns == 0 || !utc_a || !utc_b || std::abs(*utc_a - *utc_b) < backwards_ns / 2) return;
    has_other_clock_.insert(b);
    traces_.problems.push_back(fmt::format(
        "{} and {} have one boot id, but by one clock a message between them would arrive {} before it was sent; "
        "their clocks are compared by messages instead",
        nodes_[a].name, nodes_[b].name, util::time_text(backwards_ns, util::Glyphs{false})));
  }

  Status read_moments() {
    result_.moments = std::make_unique<Moments>();
    std::vector<std::map<int32_t, int64_t>> marks(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (Status read = add_collectives(nodes_[i], i, *result_.moments); !read) return read;
      if (options_.marks.empty()) continue;
      if (nodes_[i].lost_events) {
        traces_.problems.push_back(fmt::format("{} lost events, so its ranges \"{}\" are not used to compare clocks",
                                               nodes_[i].name, options_.marks));
      } else if (auto found = add_marks(nodes_[i], i, options_.marks, *result_.moments); found) {
        marks[i] = *std::move(found);
      } else {
        traces_.problems.push_back(found.error().text);
      }
    }
    count_marks(marks);
    for (auto& [who, of_moments] : bounds_of_pairs(*result_.moments, nodes_)) {
      Pair& pair = pairs_[who];
      pair.marks = of_moments.marks;
      pair.collectives = of_moments.collectives;
      pair.bounds.add(of_moments.bounds);
      pair.bounds.reduce();
    }
    return {};
  }

  // Reports different numbers of ranges: if a process lacks an early barrier, its later ones are compared with the wrong ones.
  void count_marks(const std::vector<std::map<int32_t, int64_t>>& marks) {
    std::map<int64_t, std::string> owners;  // by number of ranges, the first process with it
    for (size_t i = 0; i < marks.size(); ++i) {
      for (const auto& [proc_id, count] : marks[i]) {
        const auto rank = std::find_if(nodes_[i].ranks.begin(), nodes_[i].ranks.end(),
                                       [&, of = proc_id](const Rank& other) { return other.proc_id == of; });
        const bool is_rank = rank != nodes_[i].ranks.end();
        if (is_rank && rank->age != 0) continue;  // an earlier attempt, ended at any barrier
        owners.emplace(count, is_rank ? fmt::format("rank {} on {}", rank->rank, nodes_[i].name)
                                      : fmt::format("process {} of {}", proc_id, nodes_[i].name));
      }
    }
    if (owners.size() < 2) return;
    traces_.problems.push_back(
        fmt::format("{} has {} ranges \"{}\", {} has {}: ranges are paired by their number, so the comparison is wrong "
                    "if one near the beginning is missing",
                    owners.begin()->second, owners.begin()->first, options_.marks, owners.rbegin()->second,
                    owners.rbegin()->first));
  }

  // Adds bounds by UTC, at both ends of the run. False: UTC or its error is unknown.
  bool add_utc_bounds(size_t a, size_t b, OffsetBounds& bounds) const {
    const auto error_a = nodes_[a].utc_error_ns(), error_b = nodes_[b].utc_error_ns();
    if (!error_a || !error_b) return false;
    for (bool at_end : {false, true}) {
      const auto utc_a = nodes_[a].utc_offset_ns(at_end), utc_b = nodes_[b].utc_offset_ns(at_end);
      if (!utc_a || !utc_b) return false;
      const int64_t at = at_end ? nodes_[b].end_ns : nodes_[b].start_ns, offset = *utc_a - *utc_b;
      bounds.upper.push_back({at, offset + *error_a + *error_b});
      bounds.lower.push_back({at, offset - *error_a - *error_b});
    }
    return true;
  }

  void add_edges(size_t a, size_t b, const NodeClock& clock, int64_t cost_ns) {
    NodeClock back = clock;
    back.line = clock.line.inverse();
    back.through = nodes_[b].name;
    edges_.push_back({a, b, clock, cost_ns});
    edges_.push_back({b, a, back, cost_ns});
  }

  void add_pair(size_t a, size_t b, Pair& pair) {
    if (!pair.is_common()) return;
    const auto by_messages = ClockLine::fit(pair.bounds);
    static_cast<void>(add_utc_bounds(a, b, pair.bounds));
    auto line = ClockLine::fit(pair.bounds);
    if (by_messages && line->widened_ns() > by_messages->widened_ns()) {
      // The messages are right: none can arrive before it was sent, while a clock's own error bound may be wrong.
      traces_.problems.push_back(fmt::format(
          "the messages between {} and {} contradict the UTC of their clocks by {}; only the messages are used",
          nodes_[a].name, nodes_[b].name, util::time_text(2 * line->widened_ns(), util::Glyphs{false})));
      line = by_messages;
    }
    if (!line) {
      one_sided_.emplace_back(a, b);
      return;
    }
    NodeClock clock{*line, AlignedBy::kMoments, nodes_[a].name, pair.messages, pair.collectives, pair.marks, true};
    const int64_t error = line->error_ns(middle_of(nodes_[b]));
    add_edges(a, b, clock, error);
    if (line->widened_ns() > 0) {
      traces_.problems.push_back(fmt::format(
          "the offset between the clocks of {} and {} does not grow evenly: a straight line misses it by {} at best, "
          "which is included in the error",
          nodes_[a].name, nodes_[b].name, util::time_text(line->widened_ns(), util::Glyphs{false})));
    }
  }

  void add_same_clocks() {
    std::map<std::string, size_t> first;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const std::string key = nodes_[i].clock_key();
      if (key.empty() || has_other_clock_.contains(i)) continue;
      const auto [at, is_new] = first.emplace(key, i);
      if (is_new) continue;
      const int64_t error = readings_error(at->second, i);
      add_edges(at->second, i,
                {ClockLine::constant(0, error), AlignedBy::kSameClock, nodes_[at->second].name, 0, 0, 0, true}, error);
    }
  }

  // An edge by UTC alone. It costs so much that it is used only where nothing else connects a node, and most if UTC has no error bound.
  void add_utc(size_t to) {
    OffsetBounds bounds;
    const auto utc_a = nodes_[0].utc_offset_ns(false), utc_b = nodes_[to].utc_offset_ns(false);
    if (!utc_a || !utc_b) return;
    constexpr int64_t kFar = int64_t{1} << 60;
    if (add_utc_bounds(0, to, bounds)) {
      const auto line = ClockLine::fit(bounds);
      if (!line) return;
      const int64_t error = line->error_ns(middle_of(nodes_[to]));
      add_edges(0, to, {*line, AlignedBy::kUtcBound, nodes_[0].name, 0, 0, 0, true}, (kFar >> 10) + error);
    } else {
      add_edges(0, to, {ClockLine::constant(*utc_a - *utc_b, 0), AlignedBy::kUtc, nodes_[0].name, 0, 0, 0, false},
                kFar);
    }
  }

  void take_given() {
    const size_t last = nodes_.size() - 1;
    std::erase_if(edges_, [&](const Edge& edge) { return edge.from == last || edge.to == last; });
    add_edges(0, last, {ClockLine::constant(-*options_.offset_ns, 0), AlignedBy::kGiven, nodes_[0].name, 0, 0, 0, true},
              0);
  }

  // The path of least error from the first node to each (Dijkstra).
  void find_paths() {
    constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
    std::vector<std::vector<const Edge*>> from(nodes_.size());
    for (const Edge& edge : edges_) from[edge.from].push_back(&edge);
    result_.clocks.resize(nodes_.size());
    cost_.assign(nodes_.size(), kNever);
    cost_[0] = 0;
    std::vector<bool> is_done(nodes_.size());
    for (;;) {
      size_t next = nodes_.size();
      for (size_t i = 0; i < nodes_.size(); ++i) {
        if (!is_done[i] && cost_[i] != kNever && (next == nodes_.size() || cost_[i] < cost_[next])) next = i;
      }
      if (next == nodes_.size()) return;
      is_done[next] = true;
      for (const Edge* edge : from[next]) {
        if (cost_[next] > kNever - edge->cost_ns || cost_[next] + edge->cost_ns >= cost_[edge->to]) continue;
        cost_[edge->to] = cost_[next] + edge->cost_ns;
        NodeClock& clock = result_.clocks[edge->to] = edge->clock;
        clock.line = result_.clocks[next].line.after(edge->clock.line);
        clock.is_bounded = edge->clock.is_bounded && result_.clocks[next].is_bounded;
      }
    }
  }

  void leave_out_unrelated() {
    const NodeTraces all = traces_;
    Alignment kept;
    traces_.nodes.clear();
    std::vector<size_t> number(all.nodes.size(), kLeftOut);
    for (size_t i = 0; i < all.nodes.size(); ++i) {
      const NodeTrace& node = all.nodes[i];
      const NodeClock& clock = result_.clocks[i];
      const std::string& first = all.nodes.front().name;
      std::string lost;
      for (const NodeTrace* one : {&all.nodes.front(), &node}) {
        if (one->lost_events) lost = fmt::format(" ({} lost events)", one->name);
      }
      if (cost_[i] == std::numeric_limits<int64_t>::max()) {
        traces_.left_out.push_back(
            fmt::format("{} is left out: nothing relates its clock to that of {}; give --offset TIME or --marks NAME",
                        node.folder, first));
        continue;
      }
      if (clock.by == AlignedBy::kUtcBound) {
        traces_.problems.push_back(fmt::format(
            "times of {} and {} can be compared only to NTP's bound of {}: no message between them was matched{}{}",
            first, node.name, util::time_text(clock.error_ns(middle_of(node)), util::Glyphs{false}), lost,
            clock.line.widened_ns() > 0 ? "; a wall clock was set during the run" : ""));
      } else if (clock.by == AlignedBy::kUtc) {
        traces_.problems.push_back(
            fmt::format("times of {} and {} cannot be compared: no message between them was matched{}{}, and NTP does "
                        "not bound their clocks; {} is placed by its UTC, with unknown error",
                        first, node.name, is_one_sided(i) ? " in both directions" : "", lost, node.name));
      }
      number[i] = traces_.nodes.size();
      traces_.nodes.push_back(node);
      kept.clocks.push_back(clock);
    }
    for (Connection& one : result_.connections) {
      for (size_t& node : one.node) node = number[node];
      if (one.node[0] != kLeftOut && one.node[1] != kLeftOut) kept.connections.push_back(std::move(one));
    }
    kept.moments = std::move(result_.moments);
    kept.moments->renumber(std::move(number));
    result_ = std::move(kept);
  }

  [[nodiscard]] bool is_one_sided(size_t node) const {
    return std::any_of(one_sided_.begin(), one_sided_.end(),
                       [&](const auto& pair) { return pair.first == node || pair.second == node; });
  }

  NodeTraces& traces_;
  std::vector<NodeTrace>& nodes_;
  const AlignmentOptions& options_;
  std::map<std::pair<size_t, size_t>, Pair> pairs_;
  std::vector<std::pair<size_t, size_t>> one_sided_;
  std::set<size_t> has_other_clock_;  // nodes with another clock than a node with the same boot id
  std::vector<Edge> edges_;
  std::vector<int64_t> cost_;
  Alignment result_;
};

}  // namespace

Result<Alignment> align(NodeTraces& traces, const AlignmentOptions& options) {
  if (options.offset_ns && traces.nodes.size() != 2)
    return fail("--offset needs exactly two traces: it is added to the times of the second");
  return Aligner(traces, options).align();
}

}  // namespace mlrun::nodes
