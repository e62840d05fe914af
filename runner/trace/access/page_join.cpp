// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/page_join.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace mlrun::trace {

namespace {

constexpr uint64_t kNear = uint64_t{2} << 20;
// Pages in a sample. A site with more in some sample has about 9 on average, and so none in one of 8,000 samples.
constexpr uint64_t kFew = 24;

auto sample_of(const mlrun_page_sample& page) { return std::tuple(page.monotonic_ns, page.host_pid, page.rule); }

}  // namespace

void note_page(SampledMemory& memory, int32_t proc_id, uint64_t page) {
  const uint64_t start = page / kNear * kNear;
  add_range(memory[proc_id], start, start + kNear);
}

void SitePages::add(const std::map<int, uint64_t>& on_node, uint64_t bytes_each) {
  uint64_t pages = 0;
  for (const auto& [node, count] : on_node) {
    pages += count;
    bytes_[node] += static_cast<double>(count * bytes_each);
  }
  found_.add(on_node, static_cast<double>(bytes_each), pages * bytes_each);
  most_ = std::max(most_, pages);
}

model::PagesFound SitePages::found(uint64_t all_samples) const {
  model::PagesFound found = found_;
  if (most_ > kFew) return found;
  found.bytes = bytes_;
  found.full_samples = all_samples;
  return found;
}

PageJoin::PageJoin(const model::TraceInfo& info, int64_t alloc_min_bytes, const std::vector<RecordingPause>& pauses,
                   const SampledMemory& sampled)
    : join_(info, alloc_min_bytes, {}, pauses, sampled, [this](const AccessRow& row) { take(row); }),
      first_pause_ns_(std::numeric_limits<int64_t>::max()) {
  for (const RecordingPause& pause : pauses) first_pause_ns_ = std::min(first_pause_ns_, pause.begin_ns);
}

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
  if (memory_ == nullptr || sample_of(page) != sample_of(current_)) {
    end_sample();
    memory_ = &memories_[{page.rule, row.who.proc_id, row.who.proc_id == 0 ? page.host_pid : 0}];
    memory_->samples++;
  }
  current_ = page;
  if (!row.has_site && row.ts_ns >= first_pause_ns_) return;
  AllocSite site = row.site;
  site.proc_id = row.who.proc_id;
  ++sample_[site][page.node];
}

void PageJoin::end_sample() {
  for (const auto& [site, on_node] : sample_) memory_->sites[site].add(on_node, current_.bytes);
  sample_.clear();
}

void PageJoin::finish(int64_t end_ns) {
  join_.finish(end_ns);
  end_sample();
  for (const auto& [of, memory] : memories_) {
    for (const auto& [site, pages] : memory.sites) sites_[{std::get<0>(of), site}].add(pages.found(memory.samples));
  }
}

}  // namespace mlrun::trace
