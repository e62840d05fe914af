// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/identity/parents.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace mlrun::trace {

namespace {

using Key = std::pair<int64_t, int32_t>;  // pid namespace, pid in it

struct Moment {
  int64_t ts_ns = 0;
  int32_t proc_id = 0;
  ChildFact* child = nullptr;  // of a fork call
  bool operator<(const Moment& other) const { return std::tie(ts_ns, proc_id) < std::tie(other.ts_ns, other.proc_id); }
};
using Moments = std::map<Key, std::vector<Moment>>;

// The last moment at or before `ts_ns`, of a process other than `proc_id`.
const Moment* find(const Moments& all, const Key& key, int64_t ts_ns, int32_t proc_id) {
  const auto found = all.find(key);
  if (found == all.end()) return nullptr;
  auto at = std::upper_bound(found->second.begin(), found->second.end(), Moment{ts_ns, INT32_MAX, nullptr});
  while (at != found->second.begin()) {
    --at;
    if (at->proc_id != proc_id) return &*at;
  }
  return nullptr;
}

class Family {
 public:
  Family(std::vector<model::ProcessRow>& processes, std::vector<ChildFact>& children,
         const std::vector<Channel>& channels)
      : processes_(processes), children_(children), channels_(channels) {
    for (ChildFact& child : children) births_[key_of(child)].push_back({child.ts_ns, maker(child), &child});
    for (const model::ProcessRow& row : processes) {
      begins_[{row.pid_namespace, row.ns_pid}].push_back({row.first_ns, row.proc_id, nullptr});
      outside_[{0, row.pid}].push_back({row.first_ns, row.proc_id, nullptr});
    }
    for (Moments* moments : {&births_, &begins_, &outside_}) {
      for (auto& [key, list] : *moments) std::sort(list.begin(), list.end());
    }
  }

  void join() {
    std::vector<model::ProcessRow*> without_fork;  // no recorded fork call returned their pid
    for (model::ProcessRow& row : processes_) {
      if (!join_birth(row)) without_fork.push_back(&row);
    }
    claim_recorded();
    std::sort(without_fork.begin(), without_fork.end(),
              [](const auto* a, const auto* b) { return a->first_ns < b->first_ns; });
    for (model::ProcessRow* row : without_fork) {
      if (row->ppid != 0) join_by_number(*row);
      join_across_namespaces(*row);
    }
  }

 private:
  [[nodiscard]] const Channel& channel(const ChildFact& child) const { return channels_[child.channel]; }
  [[nodiscard]] int32_t maker(const ChildFact& child) const { return channel(child).origin.proc_id; }
  [[nodiscard]] Key key_of(const ChildFact& child) const {
    return {static_cast<int64_t>(channel(child).about.pid_namespace), static_cast<int32_t>(child.pid)};
  }

  bool join_birth(model::ProcessRow& row) {
    const Moment* birth = find(births_, {row.pid_namespace, row.ns_pid}, row.first_ns, row.proc_id);
    if (!birth) return false;
    row.parent_proc_id = birth->proc_id;
    birth->child->proc_id = row.proc_id;
    return true;
  }

  // A pid under which a process recorded is not that of an unrecorded child, whatever the clocks say.
  void claim_recorded() {
    for (ChildFact& child : children_) {
      const auto found = begins_.find(key_of(child));
      if (child.proc_id == 0 && found != begins_.end()) child.proc_id = found->second.front().proc_id;
      if (child.proc_id == 0) unclaimed_.push_back(&child);
    }
  }

  void join_by_number(model::ProcessRow& row) {
    const Moment* parent = find(begins_, {row.pid_namespace, row.ppid}, row.first_ns, row.proc_id);
    if (!parent) parent = find(outside_, {0, row.ppid}, row.first_ns, row.proc_id);
    if (parent) row.parent_proc_id = parent->proc_id;
  }

  // A child in another pid namespace has another pid there than its parent's call returned. Prefers the call that
  // returned the child's pid in mlrun's namespace, then the latest call.
  void join_across_namespaces(model::ProcessRow& row) {
    ChildFact* best = nullptr;
    const auto is_better = [&](const ChildFact& child) {
      const auto rank = [&](const ChildFact& of) {
        return std::pair(static_cast<int32_t>(of.pid) == row.pid, of.ts_ns);
      };
      return !best || rank(*best) < rank(child);
    };
    for (ChildFact* unclaimed : unclaimed_) {
      ChildFact& child = *unclaimed;
      const Key key = key_of(child);
      const bool may_be = child.proc_id == 0 && child.ts_ns <= row.first_ns && key.first != 0 &&
                          row.pid_namespace != 0 && key.first != row.pid_namespace && maker(child) != row.proc_id;
      if (may_be && is_parent(maker(child), row) && is_better(child)) best = &child;
    }
    if (!best) return;
    best->proc_id = row.proc_id;
    row.parent_proc_id = maker(*best);
  }

  // Whether the recorded ppid allows this parent. A process sees ppid 0 if its parent is outside of its pid namespace;
  // a forked child sees the pid that its parent has recorded for itself.
  [[nodiscard]] bool is_parent(int32_t proc_id, const model::ProcessRow& row) const {
    if (proc_id <= 0 || static_cast<size_t>(proc_id) > processes_.size()) return false;
    return row.ppid == 0 || processes_[static_cast<size_t>(proc_id) - 1].ns_pid == row.ppid;
  }

  std::vector<model::ProcessRow>& processes_;
  std::vector<ChildFact>& children_;
  const std::vector<Channel>& channels_;
  std::vector<ChildFact*> unclaimed_;
  Moments births_, begins_;
  Moments outside_;  // by pid in mlrun's namespace
};

}  // namespace

void find_parents(std::vector<model::ProcessRow>& processes, std::vector<ChildFact>& children,
                  const std::vector<Channel>& channels) {
  Family(processes, children, channels).join();
}

}  // namespace mlrun::trace
