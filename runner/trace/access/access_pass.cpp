// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/access_pass.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/model/run_keys.h"
#include "runner/trace/access/access_source.h"
#include "runner/trace/access/alloc_events.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/access_rungs.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

constexpr size_t kSitesListed = 20;  // maximum sites of a rung in run.json

double on_share(const model::MemoryAccess::Rung& rung) {
  return rung.all_ns <= 0 ? 1 : static_cast<double>(rung.on_ns) / static_cast<double>(rung.all_ns);
}

std::vector<JoinedRung> rungs_of(const model::MemoryAccess& access) {
  std::vector<JoinedRung> rungs;
  for (const auto& rung : access.rungs) {
    if (const uint16_t number = util::access_rung_of(rung.rung); number != 0) rungs.push_back({number, on_share(rung)});
  }
  return rungs;
}

AccessRow row_of(const mlrun_access_sample& sample, const ThreadFinder& threads) {
  AccessRow row;
  row.sample = sample;
  const int64_t end_ns = TraceClock::from_monotonic(sample.monotonic_ns);
  row.dur_ns = std::min(end_ns, TraceClock::from_monotonic(sample.interval_ns));
  row.ts_ns = end_ns - row.dur_ns;
  row.who = threads.find(end_ns, sample.host_pid, sample.host_tid == 0 ? sample.host_pid : sample.host_tid);
  return row;
}

// What the samples of forked processes are about.
Result<SampledMemory> memory_of_children(const SpoolIndex& index, const model::TraceInfo& info,
                                         const ThreadFinder& threads) {
  SampledMemory memory;
  const Status read = for_each_sample_of_children<mlrun_access_sample>(
      index, info, [&](const mlrun_access_sample& sample) { note_sampled(memory, row_of(sample, threads)); });
  if (!read) return tl::make_unexpected(read.error());
  return memory;
}

}  // namespace

std::optional<RecordingPause> pause_of(const mlrun_frame_gap& gap) {
  const bool is_last = gap.reason == MLRUN_GAP_SPOOL_FULL || gap.reason == MLRUN_GAP_DISK_FULL;
  if (gap.reason != MLRUN_GAP_PAUSED && !is_last) return std::nullopt;
  return RecordingPause{
      TraceClock::from_monotonic(gap.first_monotonic_ns),
      is_last ? std::numeric_limits<int64_t>::max() : TraceClock::from_monotonic(gap.last_monotonic_ns)};
}

std::vector<RecordingPause> pauses_of(const SpoolIndex& index) {
  std::vector<RecordingPause> pauses;
  for (const auto& [serial, gap] : index.gaps()) {
    if (const auto pause = pause_of(gap)) pauses.push_back(*pause);
  }
  return pauses;
}

Status AccessPass::run(const SpoolIndex& index, const model::Run& session, const model::TraceInfo& info,
                       const std::string& folder) {
  AccessTable table;
  AccessSiteTable site_table;
  if (Status opened = table.open_in(folder + "/tables"); !opened) return opened;
  if (Status opened = site_table.open_in(folder + "/tables"); !opened) return opened;
  const std::vector<JoinedRung> rungs = rungs_of(session.access);
  Status written;
  if (!rungs.empty()) {
    const ThreadFinder threads(info);
    const auto sampled = memory_of_children(index, info, threads);
    if (!sampled) return tl::make_unexpected(sampled.error());
    const std::vector<RecordingPause> pauses = pauses_of(index);
    was_paused_ = !pauses.empty();
    SampleSource<mlrun_access_sample> source(index);
    AccessJoin join(info, session.options.alloc_min_bytes, rungs, pauses, *sampled, [&](const AccessRow& row) {
      table.add(row);
      Rows& rows = rows_[row.sample.rung];
      rows.all++;
      rows.joined += row.is_joined ? 1 : 0;
      if (written) written = table.end_full_group();
    });
    int64_t last_ns = 0;
    // Passes all samples up to `until_ns` to the join.
    const auto take_samples = [&](int64_t until_ns) -> Status {
      for (;;) {
        const auto sample = source.next(until_ns);
        if (!sample) return tl::make_unexpected(sample.error());
        if (*sample == nullptr) return written;
        join.add(row_of(**sample, threads));
        last_ns = std::max(last_ns, TraceClock::from_monotonic((*sample)->monotonic_ns));
      }
    };
    const auto last_event_ns = join_events(folder, join, take_samples);
    if (!last_event_ns) return tl::make_unexpected(last_event_ns.error());
    join.finish(std::max(last_ns, *last_event_ns));
    sites_ = join.sites();
    damaged_rows_ = source.damaged_rows();
  }
  for (const AccessSiteRow& row : sites_) {
    site_table.add(row);
    if (written) written = site_table.end_full_group();
  }
  if (written) written = table.close();
  return written ? site_table.close() : written;
}

namespace {

// Sums for the blocks of a site in all processes: of the workers of a loader each has a row for the same code.
struct SiteOfAll {
  AccessSiteRow sums;
  int64_t processes = 0;
};

// By rung, the sites with the most bytes × time first.
std::map<uint16_t, std::vector<SiteOfAll>> sites_by_rung(const std::vector<AccessSiteRow>& rows) {
  std::map<uint16_t, std::map<AllocSite, SiteOfAll>> by_site;
  for (const AccessSiteRow& row : rows) {
    AllocSite code = row.site;
    code.proc_id = 0;
    SiteOfAll& site = by_site[row.rung][code];
    site.sums.site = code;
    site.sums.rung = row.rung;
    site.sums.add(row);
    site.processes++;
  }
  std::map<uint16_t, std::vector<SiteOfAll>> sorted;
  for (const auto& [rung, sites] : by_site) {
    for (const auto& [code, site] : sites) sorted[rung].push_back(site);
    std::stable_sort(sorted[rung].begin(), sorted[rung].end(),
                     [](const SiteOfAll& a, const SiteOfAll& b) { return a.sums.byte_s > b.sums.byte_s; });
  }
  return sorted;
}

model::MemoryAccess::Site site_found(const model::TraceInfo& info, const SiteOfAll& of) {
  const AccessSiteRow& sums = of.sums;
  return {.site = site_text(info, sums.site),
          .processes = of.processes,
          .blocks = sums.blocks,
          .bytes = sums.bytes,
          .samples = sums.samples,
          .loads = sums.loads,
          .stores = sums.stores,
          .faults = sums.faults,
          .byte_s = sums.byte_s,
          .seen_byte_s = sums.seen_byte_s,
          .hot_fraction = sums.hot_fraction()};
}

}  // namespace

void AccessPass::describe(const model::TraceInfo& info, json& run) const {
  if (!run.contains("access")) return;
  json& access = run["access"];
  Rows sum;
  for (const auto& [rung, of] : rows_) {
    sum.all += of.all;
    sum.joined += of.joined;
  }
  access["rows"] = sum.all;
  access["joined_rows"] = sum.joined;
  std::vector<model::MemoryAccess::Found> by_rung;
  for (const auto& [rung, sites] : sites_by_rung(sites_)) {
    AccessSiteRow all;
    for (const SiteOfAll& site : sites) all.add(site.sums);
    const auto counted = rows_.find(rung);
    const Rows of = counted == rows_.end() ? Rows() : counted->second;
    by_rung.push_back({.rung = util::access_rung_name(rung),
                       .rows = of.all,
                       .joined_rows = of.joined,
                       .byte_s = all.byte_s,
                       .seen_byte_s = all.seen_byte_s,
                       .touched_byte_s = all.touched_byte_s,
                       .shared_byte_s = all.shared_byte_s,
                       .sites = static_cast<int64_t>(sites.size()),
                       .largest = {}});
    for (const SiteOfAll& site : std::span(sites).first(std::min(sites.size(), kSitesListed)))
      by_rung.back().largest.push_back(site_found(info, site));
  }
  access["by_rung"] = model::json_of(by_rung);
}

namespace {

// The text about what a method of --access (a rung) skipped, and why.
std::string left_out_text(const std::string& rung, int64_t left_out, double share) {
  const uint16_t number = util::access_rung_of(rung);
  if (number == MLRUN_ACCESS_DAMON) return fmt::format("{} processes were not sampled: the limit is 16", left_out);
  if (number != 0 && !util::records_events(number))
    return fmt::format(
        "{} windows were skipped, because they would have delayed page faults by more than 20 ms; --access={} records "
        "them anyway",
        left_out, rung);
  return fmt::format("events were on for {:.1f} % of the time, to slow the program down by 1 % at most", 100.0 * share);
}

}  // namespace

std::vector<model::CoverageRow> AccessPass::coverage(const model::Run& session) const {
  std::vector<model::CoverageRow> rows;
  for (const auto& rung : session.access.rungs) {
    const auto add = [&](const std::string& detail) {
      rows.push_back({.subject = "accesses by " + rung.rung, .detail = detail, .level = model::kRemark});
    };
    add("not seen: " + rung.blind_to);
    if (session.recovered && rung.all_ns <= 0)
      add("mlrun was killed: what it lost, and how much of the time it saw, is unknown; all of the time is assumed");
    if (rung.lost > 0) add(fmt::format("{} samples were lost: the buffer was full", rung.lost));
    if (rung.left_out > 0) add(left_out_text(rung.rung, rung.left_out, on_share(rung)));
    if (!rung.problem.empty()) add(rung.problem);
  }
  for (const auto& tried : session.access.tried) {
    if (tried.asked && !tried.problem.empty())
      rows.push_back({.subject = "accesses by " + tried.rung,
                      .detail = "--access asked for them, and they were not recorded: " + tried.problem,
                      .level = model::kRemark});
  }
  if (was_paused_)
    rows.push_back({.subject = "accesses",
                    .detail = "none is listed while recording was paused (mlrun pause) or after it stopped, and blocks "
                              "from before that are unknown after it",
                    .level = model::kRemark});
  if (!rows_.empty() && sites_.empty())
    rows.push_back(
        {.subject = "accesses",
         .detail = "no allocation is listed that they could belong to: the program made none of the recorded sizes, "
                   "maps its memory by itself, is statically linked, or its allocations were not recorded",
         .level = model::kRemark});
  return rows;
}

}  // namespace mlrun::trace
