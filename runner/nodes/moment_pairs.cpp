// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/moment_pairs.h"

#include <algorithm>

namespace mlrun::nodes {

namespace {

constexpr size_t kComparedMost = 8;
constexpr size_t kBoundsMost = 4096;  // before they are reduced to those that matter

// One moment in all processes of one node. Each of them begins it before any process of another node ends it. The last begin and the first
// end give the tightest bounds, which include those of the other processes, as no clock is twice as fast as another one.
struct OfNode {
  size_t node = 0;
  int64_t begin_ns = 0;  // the last begin
  int64_t end_ns = 0;    // the first end; 0: none is known
};

class Pairs {
 public:
  explicit Pairs(const std::vector<NodeTrace>& nodes) : nodes_(nodes), partners_(nodes.size()) {}

  void add(const std::vector<OfNode>& moment, bool is_mark) {
    for (const OfNode& second : moment) {
      std::vector<size_t>& partners = partners_[second.node];
      for (const OfNode& first : moment) {
        if (first.node >= second.node) break;
        const bool is_known = std::find(partners.begin(), partners.end(), first.node) != partners.end();
        if (!is_known && partners.size() == kComparedMost) continue;
        if (compare(first, second, is_mark) && !is_known) partners.push_back(first.node);
      }
    }
  }

  std::map<std::pair<size_t, size_t>, MomentBounds> finish() {
    for (auto& [who, pair] : pairs_) pair.bounds.reduce();
    return std::move(pairs_);
  }

 private:
  bool compare(const OfNode& first, const OfNode& second, bool is_mark) {
    if (first.end_ns == 0 && second.end_ns == 0) return false;
    const int64_t error_ns = nodes_[first.node].error_ns + nodes_[second.node].error_ns;
    MomentBounds& pair = pairs_[{first.node, second.node}];
    OffsetBounds& bounds = pair.bounds;
    if (second.end_ns != 0) bounds.upper.push_back({second.end_ns, second.end_ns - first.begin_ns + error_ns});
    if (first.end_ns != 0) bounds.lower.push_back({second.begin_ns, second.begin_ns - first.end_ns - error_ns});
    if (bounds.upper.size() + bounds.lower.size() > kBoundsMost) bounds.reduce();
    ++(is_mark ? pair.marks : pair.collectives);
    return true;
  }

  const std::vector<NodeTrace>& nodes_;
  std::vector<std::vector<size_t>> partners_;  // of each node
  std::map<std::pair<size_t, size_t>, MomentBounds> pairs_;
};

}  // namespace

std::map<std::pair<size_t, size_t>, MomentBounds> bounds_of_pairs(Moments& moments,
                                                                  const std::vector<NodeTrace>& nodes) {
  Pairs pairs(nodes);
  std::vector<OfNode> of_nodes;
  moments.for_each_group([&](const std::vector<Moment>& group) {
    of_nodes.clear();
    for (const Moment& one : group) {
      if (of_nodes.empty() || of_nodes.back().node != one.node) {
        of_nodes.push_back({one.node, one.begin_ns, one.end_ns});
        continue;
      }
      OfNode& node = of_nodes.back();
      node.begin_ns = std::max(node.begin_ns, one.begin_ns);
      if (one.end_ns != 0) node.end_ns = node.end_ns == 0 ? one.end_ns : std::min(node.end_ns, one.end_ns);
    }
    if (of_nodes.size() > 1) pairs.add(of_nodes, moments.key(group.front().key).is_mark());
  });
  return pairs.finish();
}

}  // namespace mlrun::nodes
