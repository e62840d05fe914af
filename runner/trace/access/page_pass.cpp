// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/page_pass.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/model/run_keys.h"
#include "runner/parquet/row_columns.h"
#include "runner/trace/access/access_pass.h"
#include "runner/trace/access/access_source.h"
#include "runner/trace/access/alloc_events.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/id_list.h"

namespace mlrun::trace {

namespace {

constexpr size_t kSitesNamed = 3;  // of each rule, in run.json

int32_t process_of(const mlrun_page_sample& page, const ThreadFinder& threads) {
  return threads.find(TraceClock::from_monotonic(page.monotonic_ns), page.host_pid, page.host_pid).proc_id;
}

Result<SampledMemory> memory_near_pages(const SpoolIndex& index, const model::TraceInfo& info,
                                        const ThreadFinder& threads) {
  SampledMemory memory;
  const Status read = for_each_sample_of_children<mlrun_page_sample>(
      index, info, [&](const mlrun_page_sample& page) { note_page(memory, process_of(page, threads), page.address); });
  if (!read) return tl::make_unexpected(read.error());
  return memory;
}

std::vector<PageSiteRow> rows_of(const PageSite& where, const model::PagesFound& found) {
  std::vector<PageSiteRow> rows;
  for (const auto& [node, sampled] : found.sampled) {
    const auto bytes = found.bytes.find(node);
    const double sum = bytes == found.bytes.end() ? 0 : bytes->second;  // 0: only while blocks were filled or freed
    rows.push_back({where, node, static_cast<int64_t>(found.samples), static_cast<int64_t>(sampled),
                    std::llround(sum / static_cast<double>(found.full_samples))});
  }
  return rows;
}

// The nodes that the rule names, or the policy; empty: any node.
std::vector<int64_t> asked_nodes(const model::Placement& placement, int32_t rule) {
  if (rule >= 0)
    return static_cast<size_t>(rule) < placement.rules.size() ? placement.rules[rule].nodes : std::vector<int64_t>();
  const util::IdList listed = util::parse_id_list(placement.mem_node).value_or(util::IdList());
  return {listed.begin(), listed.end()};
}

}  // namespace

Status PagePass::join(const SpoolIndex& index, const model::Run& session, const model::TraceInfo& info,
                      const std::string& folder) {
  const ThreadFinder threads(info);
  const auto sampled = memory_near_pages(index, info, threads);
  if (!sampled) return tl::make_unexpected(sampled.error());
  SampleSource<mlrun_page_sample> source(index);
  PageJoin join(info, session.options.alloc_min_bytes, pauses_of(index), *sampled);
  int64_t last_ns = 0;
  const auto last_event_ns = join_events(folder, join, [&](int64_t until_ns) -> Status {
    for (;;) {
      const auto page = source.next(until_ns);
      if (!page) return tl::make_unexpected(page.error());
      if (*page == nullptr) return {};
      last_ns = TraceClock::from_monotonic((*page)->monotonic_ns);
      join.add(**page, process_of(**page, threads), last_ns);
    }
  });
  if (!last_event_ns) return tl::make_unexpected(last_event_ns.error());
  join.finish(std::max(last_ns, *last_event_ns));
  sites_ = join.sites();
  return {};
}

Status PagePass::run(const SpoolIndex& index, const model::Run& session, const model::TraceInfo& info,
                     const std::string& folder) {
  PageSiteTable table;
  if (Status opened = table.open_in(folder + "/tables"); !opened) return opened;
  const bool was_sampled = !session.placement.rules.empty() || !session.placement.policy.empty();
  if (Status joined = was_sampled ? join(index, session, info, folder) : Status(); !joined) return joined;
  for (const auto& [where, found] : sites_) {
    for (const PageSiteRow& row : rows_of(where, found)) table.add(row);
    if (Status written = table.end_full_group(); !written) return written;
  }
  return table.close();
}

void PagePass::describe(const model::TraceInfo& info, nlohmann::json& run) const {
  if (sites_.empty() || !run.contains("placement")) return;
  const model::Placement placement = model::run_of(run).placement;
  std::map<int32_t, std::map<std::string, int64_t>> elsewhere;  // bytes by rule and text of the site, of all processes
  for (const auto& [where, found] : sites_) {
    const std::vector<int64_t> asked = asked_nodes(placement, where.rule);
    int64_t bytes = 0;
    for (const PageSiteRow& row : rows_of(where, found)) {
      if (!asked.empty() && std::ranges::find(asked, row.node) == asked.end()) bytes += row.bytes;
    }
    const bool has_site = where.site.site_library != 0 || where.site.stack_id != 0;
    if (bytes > 0) elsewhere[where.rule][has_site ? site_text(info, where.site) : ""] += bytes;
  }
  std::vector<model::Placement::Site> list;
  for (const auto& [rule, by_text] : elsewhere) {
    std::vector<std::pair<int64_t, std::string>> sites;
    for (const auto& [text, bytes] : by_text) sites.emplace_back(bytes, text);
    std::ranges::stable_sort(sites, std::greater<>(), [](const auto& site) { return site.first; });
    if (sites.size() > kSitesNamed) sites.resize(kSitesNamed);
    for (const auto& [bytes, text] : sites) list.push_back({rule, bytes, text});
  }
  run["placement"]["sites"] = model::json_of(list);
}

struct PageSiteColumns {
  static constexpr const char* kTable = "page_site";
  static void visit(auto& visitor, const PageSiteRow& row) {
    const AllocSite& site = row.where.site;
    visitor.optional("rule", row.where.rule, -1);
    visitor.optional("proc_id", site.proc_id, 0);
    visitor.optional("site_library", site.site_library, 0);
    visitor.optional("site_offset", tables::value_if(site.site_library != 0, site.site_offset));
    visitor.optional("stack_id", site.stack_id, 0);
    visitor("node", row.node);
    visitor("samples", row.samples);
    visitor("sampled", row.sampled);
    visitor("bytes", row.bytes);
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::PageSiteColumns, mlrun::trace::PageSiteRow>;
