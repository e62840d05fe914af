// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/page_join.h"

#include <tuple>
#include <utility>

namespace mlrun::trace {

namespace {

constexpr uint64_t kNear = uint64_t{2} << 20;

auto sample_of(const mlrun_page_sample& page) { return std::tuple(page.monotonic_ns, page.host_pid, page.rule); }

}  // namespace

void note_page(SampledMemory& memory, int32_t proc_id, uint64_t page) {
  const uint64_t start = page / kNear * kNear;
  add_range(memory[proc_id], start, start + kNear);
}

PageJoin::PageJoin(const model::TraceInfo& info, int64_t alloc_min_bytes, std::vector<RecordingPause> pauses,
                   const SampledMemory& sampled)
    : join_(info, alloc_min_bytes, {}, std::move(pauses), sampled, [this](const AccessRow& row) { take(row); }) {}

void PageJoin::add(const mlrun_page_sample& page, int32_t proc_id, int64_t at_ns) {
  AccessRow row;
  row.who.proc_id = proc_id;
  row.ts_ns = at_ns;
  row.sample.kind = MLRUN_ACCESS_LOAD;
  row.sample.address = page.address + kAccessPage / 2;
  waiting_.push_back(page);
  join_.add(row);
}

void PageJoin::take(const AccessRow& row) {
  const mlrun_page_sample page = waiting_.front();
  waiting_.pop_front();
  if (sample_of(page) != sample_of(current_)) end_sample();
  current_ = page;
  PageSite where{page.rule, row.site};
  where.site.proc_id = row.who.proc_id;
  ++sample_[where][page.node];
}

void PageJoin::end_sample() {
  for (const auto& [where, on_node] : sample_) {
    uint64_t pages = 0;
    for (const auto& [node, count] : on_node) pages += count;
    sites_[where].add(on_node, static_cast<double>(current_.bytes), pages * current_.bytes);
  }
  sample_.clear();
}

void PageJoin::finish(int64_t end_ns) {
  join_.finish(end_ns);
  end_sample();
}

}  // namespace mlrun::trace
