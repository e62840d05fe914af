// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/identity/thread_finder.h"

#include <algorithm>

namespace mlrun::trace {

namespace {

uint64_t key(uint32_t pid, uint32_t tid) { return uint64_t{pid} << 32 | tid; }

}  // namespace

ThreadFinder::ThreadFinder(const model::TraceInfo& info) {
  std::unordered_map<int32_t, uint32_t> pids;
  for (const model::ProcessRow& row : info.processes) {
    const auto pid = static_cast<uint32_t>(row.pid);
    pids.emplace(row.proc_id, pid);
    processes_[pid].push_back({row.first_ns, row.last_ns, row.proc_id, 0, 0});
  }
  for (const model::ThreadRow& row : info.threads) {
    const auto process = pids.find(row.proc_id);
    const uint64_t id = key(process == pids.end() ? 0 : process->second, static_cast<uint32_t>(row.tid));
    threads_[id].push_back({row.first_ns, row.last_ns, row.proc_id, row.image_id, row.thread_id});
  }
  sort(threads_);
  sort(processes_);
}

void ThreadFinder::sort(ById& known) {
  for (auto& [id, list] : known) {
    std::stable_sort(list.begin(), list.end(), [](const Known& a, const Known& b) { return a.first_ns < b.first_ns; });
  }
}

const ThreadFinder::Known* ThreadFinder::at(const ById& known, uint64_t id, int64_t ts_ns) {
  const auto found = known.find(id);
  if (found == known.end()) return nullptr;
  const auto& list = found->second;
  const auto later = std::upper_bound(list.begin(), list.end(), ts_ns,
                                      [](int64_t ns, const Known& candidate) { return ns < candidate.first_ns; });
  return later == list.begin() ? &list.front() : &*(later - 1);
}

model::Origin ThreadFinder::find(int64_t ts_ns, uint32_t pid, uint32_t tid) const {
  model::Origin origin;
  origin.ts_ns = ts_ns;
  origin.pid = static_cast<int32_t>(pid);
  origin.tid = static_cast<int32_t>(tid);
  const Known* known = at(threads_, key(pid, tid), ts_ns);
  if (known == nullptr) known = at(threads_, key(0, tid), ts_ns);
  if (known == nullptr) known = at(processes_, pid, ts_ns);
  if (known == nullptr) return origin;
  origin.proc_id = known->proc_id;
  origin.image_id = known->image_id;
  origin.thread_id = known->thread_id;
  return origin;
}

int32_t ThreadFinder::process_at(int64_t ts_ns, int32_t pid, int64_t slack_ns) const {
  const Known* known = at(processes_, static_cast<uint32_t>(pid), ts_ns);
  return known && known->first_ns <= ts_ns && ts_ns <= known->last_ns + slack_ns ? known->proc_id : 0;
}

}  // namespace mlrun::trace
