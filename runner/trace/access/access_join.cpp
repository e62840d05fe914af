// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/access_join.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "runner/decode/perf_sample.h"
#include "runner/util/access_rungs.h"
#include "runner/util/time_units.h"

namespace mlrun::trace {

namespace {

constexpr int64_t kLongestCallNs = 2'000'000'000;  // an allocation call that takes longer may miss accesses inside it
constexpr int64_t kLongestWindowNs = 10'000'000'000;  // a window that ends so long after its process is not joined
constexpr double kNearlyAll = 0.999, kMost = 0.9;

bool is_range(const AccessRow& row) {
  return row.sample.kind == MLRUN_ACCESS_TOUCHED || row.sample.kind == MLRUN_ACCESS_WRITTEN;
}

int64_t moment_of(const AccessRow& row) { return row.ts_ns + row.dur_ns; }

// Marks the pages of the fault as accessed. Returns whether this is the rung's first access to the page.
// A first touch finds no page mapped (then the size is 4 KiB). So a fault that finds one, as one on a larger page does, is a later access to all of
// that page, also where the first touch has no sample (samples pause). Only a block that fork copied has its parent's pages. A fault that finds no
// page mapped is never a later access: a page is filled again where it had been given back (MADV_DONTNEED), or where realloc copied the block.
bool note_fault(LiveBlock& block, const mlrun_access_sample& fault) {
  PagesSeen* seen = block.pages_of(fault.rung);
  if (seen == nullptr) {
    seen = &block.pages.emplace_back(PagesSeen{.rung = fault.rung, .once = {}, .again = {}});
    seen->resize(block.page_count());
  }
  const uint64_t size = std::max<uint64_t>(fault.bytes, kAccessPage), start = fault.address / size * size;
  const bool fills = (fault.flags & MLRUN_ACCESS_UNMAPPED) != 0;
  const bool is_mapped = size > kAccessPage || (fault.flags & MLRUN_ACCESS_MAPPED) != 0;
  const bool is_later = is_mapped && !block.has_parents_pages;
  const size_t before = block.address / kAccessPage;  // pages
  const size_t first = std::max(start, block.address) / kAccessPage - before;
  const size_t last = (std::min(start + size, block.end()) - 1) / kAccessPage - before;
  const bool is_first = !is_later && !seen->once[first];
  for (size_t page = first; page <= last; page++) {
    if (is_later || (seen->once[page] && !fills)) seen->again[page] = true;
    seen->once[page] = true;
  }
  return is_first;
}

int64_t set_bits(const std::vector<bool>& bits) { return std::count(bits.begin(), bits.end(), true); }

// Adds what a rung that records events has seen of a block that ends. NUMA balancing skips memory that is bound to a
// node, and memory that only its own node uses: a block without a hint fault may be hot or cold. How many pages the
// samples of `precise` hit depends on their rate, so it does not count them.
void add_seen(LiveBlock& block, double byte_s, AccessSiteRow& row) {
  const PagesSeen* seen = block.pages_of(row.rung);
  const bool has_hints = row.rung == MLRUN_ACCESS_HINT_FAULTS;
  const int64_t touched = seen == nullptr ? 0 : set_bits(has_hints ? seen->again : seen->once);
  if (has_hints && touched == 0) return;
  row.seen_byte_s += byte_s;
  if (row.rung == MLRUN_ACCESS_PRECISE) return;
  row.pages += static_cast<int64_t>(block.page_count());
  row.touched_pages += touched;
}

double seconds(int64_t ns) { return util::in_seconds(std::max<int64_t>(ns, 0)); }

}  // namespace

bool add_range(AddressRanges& ranges, uint64_t start, uint64_t end) {
  auto at = ranges.upper_bound(start);
  if (at != ranges.begin() && std::prev(at)->second >= start) --at;
  if (at != ranges.end() && at->first <= start && at->second >= end) return false;
  while (at != ranges.end() && at->first <= end) {
    start = std::min(start, at->first);
    end = std::max(end, at->second);
    at = ranges.erase(at);
  }
  ranges.emplace_hint(at, start, end);
  return true;
}

void note_sampled(SampledMemory& memory, const AccessRow& row) {
  AddressRanges& ranges = memory[row.who.proc_id];
  const uint64_t address = row.sample.address, page = address / kAccessPage * kAccessPage;
  if (is_range(row))
    add_range(ranges, address, address + row.sample.bytes);
  else
    add_range(ranges, page, page + kAccessPage);
}

AccessJoin::AccessJoin(const model::TraceInfo& info, int64_t alloc_min_bytes, std::vector<JoinedRung> rungs,
                       std::vector<RecordingPause> pauses, const SampledMemory& sampled,
                       std::function<void(const AccessRow&)> done)
    : alloc_min_bytes_(static_cast<uint64_t>(std::max<int64_t>(alloc_min_bytes, 0))),
      rungs_(std::move(rungs)),
      pauses_(std::move(pauses)),
      done_(std::move(done)) {
  for (const model::ProcessRow& row : info.processes) {
    rows_by_id_[row.proc_id] = &row;
    if (row.forked) turns_.push_back({row.first_ns, row.proc_id, TurnKind::kFork});
    if (row.end_recorded) turns_.push_back({row.last_ns + kLongestWindowNs, row.proc_id, TurnKind::kEnd});
  }
  std::map<int32_t, std::vector<int64_t>> begins;
  for (const model::ImageRow& image : info.images) begins[image.proc_id].push_back(image.start_ns);
  for (auto& [proc_id, moments] : begins) {
    std::sort(moments.begin(), moments.end());
    for (size_t i = 1; i < moments.size(); i++) turns_.push_back({moments[i], proc_id, TurnKind::kExec});
  }
  for (const RecordingPause& pause : pauses_) turns_.push_back({pause.begin_ns, 0, TurnKind::kPause});
  std::sort(turns_.rbegin(), turns_.rend());
  find_inherited(sampled);
}

// A block reaches a grandchild through its parent. A step that adds nothing has been taken before, with all steps after it.
void AccessJoin::find_inherited(const SampledMemory& sampled) {
  for (const auto& [proc_id, ranges] : sampled) {
    auto row = rows_by_id_.find(proc_id);
    while (row != rows_by_id_.end() && row->second->forked) {
      bool has_grown = false;
      for (const auto& [start, end] : ranges) has_grown = add_range(inherited_[row->first], start, end) || has_grown;
      if (!has_grown) break;
      row = rows_by_id_.find(row->second->parent_proc_id);
    }
  }
}

size_t AccessJoin::site_number(const AllocSite& site) {
  const auto [at, is_new] = numbers_.try_emplace(site, sites_.size());
  if (is_new) {
    Site& added = sites_.emplace_back(Site{site, {}});
    for (const JoinedRung& rung : rungs_) added.by_rung.push_back({.site = site, .rung = rung.number});
  }
  return at->second;
}

AccessSiteRow* AccessJoin::sums(size_t site, uint16_t rung) {
  for (AccessSiteRow& row : sites_[site].by_rung) {
    if (row.rung == rung) return &row;
  }
  return nullptr;
}

// State of a process. A forked child begins with the blocks that its parent has when this is first called: at its first
// record, or at an access before that. It gets those that its rows, or those of its own children, are about.
AccessJoin::Process& AccessJoin::process(int32_t proc_id) {
  const auto found = processes_.find(proc_id);
  if (found != processes_.end()) return found->second;
  Process& made = processes_[proc_id];
  const auto known = rows_by_id_.find(proc_id);
  if (known == rows_by_id_.end()) return made;
  const model::ProcessRow& row = *known->second;
  if (row.end_recorded) made.ended_ns = row.last_ns;
  if (!row.forked || row.parent_proc_id == 0 || row.parent_proc_id == proc_id) return made;
  Process& parent = process(row.parent_proc_id);
  made.lists_all = parent.lists_all;
  const auto inherit = [&](const LiveBlock& block) {
    if (block.lives_from_ns > row.first_ns || made.blocks.find(block.address) != nullptr) return;
    LiveBlock& mine = made.blocks.add(block);
    AllocSite site = sites_[block.site].site;
    site.proc_id = proc_id;
    mine.site = site_number(site);
    mine.is_inherited = mine.has_parents_pages = true;
    mine.pages = {};  // what the parent touched
    mine.lives_from_ns = std::max(mine.lives_from_ns, row.first_ns);
  };
  if (const auto ranges = inherited_.find(proc_id); ranges != inherited_.end()) {
    for (const auto& [start, end] : ranges->second) parent.blocks.each_in(start, end, inherit);
  }
  return made;
}

void AccessJoin::reach(int64_t moment_ns) {
  for (; !turns_.empty() && turns_.back().at_ns <= moment_ns; turns_.pop_back()) {
    const Turn& turn = turns_.back();
    if (turn.kind == TurnKind::kPause) {  // what is freed and allocated from now on has no rows
      for (auto& [proc_id, here] : processes_) close_all(here, turn.at_ns);
      continue;
    }
    if (turn.kind == TurnKind::kFork) process(turn.proc_id);
    const auto found = processes_.find(turn.proc_id);
    if (turn.kind == TurnKind::kFork || found == processes_.end()) continue;
    Process& here = found->second;
    close_all(here, turn.kind == TurnKind::kExec ? turn.at_ns : std::max(here.last_ns, here.ended_ns));
    here.lists_all = false;
  }
}

void AccessJoin::close_all(Process& here, int64_t end_ns) {
  here.blocks.each([&](LiveBlock& block) { close(block, end_ns); });
  here.blocks = {};
}

bool AccessJoin::is_in_pause(int64_t begin_ns, int64_t end_ns) const {
  return std::any_of(pauses_.begin(), pauses_.end(),
                     [&](const RecordingPause& pause) { return begin_ns <= pause.end_ns && end_ns >= pause.begin_ns; });
}

// A copy that a forked child has not accessed is its parent's memory: it would make the site colder, and its bytes would count twice.
void AccessJoin::close(LiveBlock& block, int64_t end_ns) {
  if (block.is_inherited) return;
  const int64_t life_ns = std::max<int64_t>(end_ns - block.lives_from_ns, 0);
  const double byte_s = static_cast<double>(block.bytes) * seconds(life_ns);
  for (size_t i = 0; i < rungs_.size(); i++) {
    AccessSiteRow& row = sites_[block.site].by_rung[i];
    row.blocks++;
    row.bytes += static_cast<int64_t>(block.bytes);
    row.lifetime_ns += life_ns;
    row.byte_s += byte_s;
    if (util::records_events(row.rung)) add_seen(block, byte_s * rungs_[i].on_share, row);
  }
}

// Whether the free of a new block will have a row. A realloc has one if the old or the new block has --alloc-min bytes, a
// free only if the block has them. Where the allocator reports no sizes, all blocks are listed.
bool AccessJoin::has_row_of_its_end(Process& here, const AllocEvent& event) const {
  if (event.bytes >= alloc_min_bytes_) return true;
  here.lists_all = here.lists_all || event.old_address == 0;
  return here.lists_all;
}

void AccessJoin::add(const AllocEvent& event) {
  reach(event.moment_ns());
  Process& here = process(event.proc_id);
  here.last_ns = std::max(here.last_ns, event.moment_ns());
  LiveBlock old;
  std::vector<PagesSeen> pages;
  bool has_parents_pages = false;
  if (event.is_free) {
    if (here.blocks.take(event.address, old)) close(old, event.begin_ns);
    return;
  }
  // A block that another thread got at the old address while realloc moved this one away stays.
  if (event.old_address != 0 && here.blocks.take(event.old_address, old, event.begin_ns)) {
    close(old, event.end_ns);
    has_parents_pages = old.has_parents_pages;
    pages = std::exchange(old.pages, {});  // realloc keeps the content, so each page keeps its place in the block
  }
  // A block that was returned in a pause may have been freed in it.
  if (!has_row_of_its_end(here, event) || is_in_pause(event.end_ns, event.end_ns)) return;
  // Other blocks in the new block's range were freed without a record.
  std::vector<uint64_t> stale;
  here.blocks.each_in(event.address, event.address + std::max<uint64_t>(event.bytes, 1),
                      [&](const LiveBlock& block) { stale.push_back(block.address); });
  for (const uint64_t address : stale) {
    if (here.blocks.take(address, old)) close(old, event.begin_ns);
  }
  LiveBlock& block = here.blocks.add({.address = event.address,
                                      .bytes = event.bytes,
                                      .begin_ns = event.begin_ns,
                                      .returned_ns = event.end_ns,
                                      .lives_from_ns = event.end_ns,
                                      .site = site_number(event.site),
                                      .has_parents_pages = has_parents_pages,
                                      .pages = std::move(pages)});
  for (PagesSeen& seen : block.pages) seen.resize(block.page_count());
  take_open(here, block);
  finish_rows(event.moment_ns() - kLongestCallNs);
}

// Assigns the block to open rows at its addresses that happened during the call that returned it. No other block was at
// these addresses, and the rows are the last ones of `open`.
void AccessJoin::take_open(Process& here, LiveBlock& block) {
  while (!here.open.empty() && here.open.front() < first_row_) here.open.pop_front();
  for (size_t at = here.open.size(); at-- > 0;) {
    AccessRow& open = row(here.open[at]);
    if (moment_of(open) < block.begin_ns) break;
    if (open.sample.address < block.address || open.sample.address >= block.end()) continue;
    take_block(open, block);
    here.open.erase(here.open.begin() + static_cast<ptrdiff_t>(at));
  }
}

void AccessJoin::take_block(AccessRow& row, LiveBlock& block) {
  const mlrun_access_sample& sample = row.sample;
  block.is_inherited = false;
  row.is_joined = row.has_block = row.has_site = true;
  row.block_address = block.address;
  row.block_ts_ns = block.begin_ns;
  row.site = sites_[block.site].site;
  row.is_first = sample.kind == MLRUN_ACCESS_FAULT && note_fault(block, sample);
  AccessSiteRow* site = sums(block.site, sample.rung);
  if (site == nullptr) return;
  const auto count = static_cast<int64_t>(sample.count);
  site->samples++;
  if (sample.kind == MLRUN_ACCESS_FAULT) site->faults += count;
  if (sample.kind == MLRUN_ACCESS_LOAD) site->loads += count;
  if (sample.kind == MLRUN_ACCESS_STORE) site->stores += count;
  if (sample.kind == MLRUN_ACCESS_LOAD && sample.latency != 0) {
    site->latency_sum += static_cast<double>(sample.latency);
    site->with_latency++;
  }
  if (sample.data_source == 0) return;
  site->with_source++;
  site->remote += decode::read_data_source(sample.data_source).remote ? 1 : 0;
}

// A row about a memory range: adds it to the sums of each block in it. If only a part of the range was touched, only
// blocks of one site can be counted, because the part may be in any of the blocks. `end_ns`: of its window, or of its
// process if that is earlier.
void AccessJoin::take_range(AccessRow& row, int64_t end_ns, LiveBlocks& blocks) {
  const mlrun_access_sample& sample = row.sample;
  const uint64_t end = sample.address + sample.bytes;
  struct Part {
    LiveBlock* block;
    double bytes;
  };
  std::vector<Part> parts;
  double covered = 0;
  bool is_one_site = true;
  blocks.each_in(sample.address, end, [&](LiveBlock& block) {
    const double bytes =
        static_cast<double>(std::min(end, block.end()) - std::max<uint64_t>(sample.address, block.address));
    parts.push_back({&block, bytes});
    covered += bytes;
    is_one_site = is_one_site && block.site == parts.front().block->site;
  });
  if (parts.empty()) return;
  row.is_joined = true;
  row.has_site = is_one_site;
  if (is_one_site) row.site = sites_[parts.front().block->site].site;
  if (parts.size() == 1) {
    row.has_block = true;
    row.block_address = parts.front().block->address;
    row.block_ts_ns = parts.front().block->begin_ns;
  }
  const auto touched = static_cast<double>(sample.touched_bytes), resident = static_cast<double>(sample.resident_bytes);
  const auto bytes = static_cast<double>(sample.bytes);
  const bool is_cold = sample.touched_bytes == 0;
  const bool is_all = resident >= bytes * kNearlyAll && touched >= resident * kNearlyAll;
  const bool is_known = is_cold || is_all || (is_one_site && covered >= std::min(bytes, resident) * kMost);
  if ((!is_known && is_one_site) || (sample.flags & MLRUN_ACCESS_FILLING) != 0) return;
  const double share = is_cold ? 0 : is_all ? 1 : std::min(touched / covered, 1.0);
  for (const Part& part : parts) {
    if (is_known && share > 0) part.block->is_inherited = false;
    AccessSiteRow* site = sums(part.block->site, sample.rung);
    if (site == nullptr || part.block->is_inherited) continue;
    const double byte_s = part.bytes * seconds(end_ns - std::max(row.ts_ns, part.block->lives_from_ns));
    if (!is_known) {
      site->shared_byte_s += byte_s;
      continue;
    }
    site->samples++;
    site->seen_byte_s += byte_s;
    site->touched_byte_s += byte_s * share;
  }
}

// Gives the row, which is the last one of rows_, the blocks that are there. `end_ns`: as for take_range().
void AccessJoin::take(AccessRow& row, Process& here, int64_t end_ns) {
  if (is_range(row)) {
    if (end_ns >= row.ts_ns) take_range(row, end_ns, here.blocks);
  } else if (LiveBlock* block = here.blocks.find(row.sample.address)) {
    take_block(row, *block);
  } else {
    while (!here.open.empty() && here.open.front() < first_row_) here.open.pop_front();
    here.open.push_back(first_row_ + rows_.size() - 1);
  }
}

void AccessJoin::add(const AccessRow& added) {
  reach(moment_of(added));
  Process& here = process(added.who.proc_id);
  // DAMON also has windows of processes that have ended. A single access shows that its process was there.
  const int64_t end_ns = is_range(added) ? std::min(moment_of(added), here.ended_ns) : moment_of(added);
  here.last_ns = std::max(here.last_ns, end_ns);
  AccessRow& row = rows_.emplace_back(added);
  if (!is_in_pause(row.ts_ns, moment_of(row)))
    take(row, here, end_ns);  // in a pause it is unknown which blocks are there
  finish_rows(moment_of(row) - kLongestCallNs);
}

void AccessJoin::finish_rows(int64_t before_ns) {
  while (!rows_.empty() && moment_of(rows_.front()) < before_ns) {
    done_(rows_.front());
    rows_.pop_front();
    first_row_++;
  }
}

// Blocks that were never freed live until `end_ns` or, if their process ended before, until its last record.
void AccessJoin::finish(int64_t end_ns) {
  reach(end_ns);
  for (auto& [proc_id, process] : processes_) {
    const auto row = rows_by_id_.find(proc_id);
    const bool has_ended = row != rows_by_id_.end() && !row->second->end.empty() && row->second->end != "running";
    close_all(process, has_ended ? std::max(process.last_ns, std::min(row->second->last_ns, end_ns)) : end_ns);
    process.open.clear();
  }
  finish_rows(std::numeric_limits<int64_t>::max());
}

std::vector<AccessSiteRow> AccessJoin::sites() const {
  std::vector<AccessSiteRow> rows;
  for (const Site& site : sites_) {
    std::copy_if(site.by_rung.begin(), site.by_rung.end(), std::back_inserter(rows),
                 [](const AccessSiteRow& row) { return row.blocks > 0; });
  }
  return rows;
}

}  // namespace mlrun::trace
