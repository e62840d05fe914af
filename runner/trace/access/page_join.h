// SPDX-License-Identifier: Apache-2.0
// Joins sampled pages with the heap blocks at their addresses, and adds them up by rule of --place and allocation site.
// A page is that of the block in which its middle lies: where several share it, each gets its share over many pages.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "runner/events/page_sample.h"
#include "runner/model/pages_found.h"
#include "runner/model/trace_info.h"
#include "runner/trace/access/access_join.h"

namespace mlrun::trace {

// site: its library, offset and stack are 0 for pages in no listed block. Its proc_id is that of the sampled process, 0: unknown.
struct PageSite {
  int32_t rule = -1;  // -1: memory under a policy for the whole command
  AllocSite site;
  auto operator<=>(const PageSite&) const = default;
};

// The pages of a site in the samples of one process and rule. Where a sample has only a few of them, chance decides whether it has any: the mean of
// those that have some would be too much. So the mean of all samples counts then.
class SitePages {
 public:
  void add(const std::map<int, uint64_t>& on_node, uint64_t bytes_each);
  // all_samples: of the process and rule, also those without a page of this site.
  [[nodiscard]] model::PagesFound found(uint64_t all_samples) const;

 private:
  model::PagesFound found_;
  std::map<int, double> bytes_;  // by node, added up over all samples
  uint64_t most_ = 0;            // pages in one sample
};

// The memory of a process near one of its sampled pages. By 2 MiB, so that memory is bounded by what is mapped and not by the number of samples.
void note_page(SampledMemory& memory, int32_t proc_id, uint64_t page);

class PageJoin {
 public:
  // Requires: `info` outlives this. `alloc_min_bytes`: --alloc-min. `sampled`: near all pages of forked processes.
  // `pauses`: as AccessJoin has them. Pages in no listed block count only before the first one: later they may be of blocks from before it, which
  // count already.
  PageJoin(const model::TraceInfo& info, int64_t alloc_min_bytes, const std::vector<RecordingPause>& pauses,
           const SampledMemory& sampled);

  // Requires: calls of both are in one order of time: of a block event by moment_ns(), of a page by `at_ns`.
  void add(const AllocEvent& event) { join_.add(event); }
  void add(const mlrun_page_sample& page, int32_t proc_id, int64_t at_ns);
  // Assigns the last pages. `end_ns`: time of the last event or page.
  void finish(int64_t end_ns);

  // The samples of the process in which pages of this site were found; of unknown processes, of all of them, added up. Requires: finish().
  [[nodiscard]] const std::map<PageSite, model::PagesFound>& sites() const { return sites_; }

 private:
  // Rule, proc_id and, if that is 0, the process's pid: each unknown process has memory of its own.
  using MemoryOf = std::tuple<int32_t, int32_t, uint32_t>;
  struct Memory {
    uint64_t samples = 0;
    std::map<AllocSite, SitePages> sites;
  };
  void take(const AccessRow& row);
  void end_sample();

  AccessJoin join_;  // returns pages in the order in which add() added them
  std::deque<mlrun_page_sample> waiting_;
  std::map<MemoryOf, Memory> memories_;
  int64_t first_pause_ns_;
  Memory* memory_ = nullptr;     // that of the current sample
  mlrun_page_sample current_{};  // the last one that was assigned: its time, process and rule are those of its sample
  std::map<AllocSite, std::map<int, uint64_t>> sample_;  // pages of this sample by node
  std::map<PageSite, model::PagesFound> sites_;
};

}  // namespace mlrun::trace
