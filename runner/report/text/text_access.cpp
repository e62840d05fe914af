// SPDX-License-Identifier: Apache-2.0
// Which memory was accessed (--access), by which mechanism it was seen, and what that mechanism cannot see.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/access_rungs.h"

namespace mlrun::report {
namespace {

using Rung = model::MemoryAccess::Rung;

constexpr size_t kShownSites = 10;

std::string attributed_text(double seen, double all) { return all > 0 ? util::percent_text(seen / all) : "-"; }

// Whether much is not attributed, mostly because blocks of several sites are in one window. Where rules place blocks, their sites are apart already.
bool needs_sites_apart(const model::MemoryAccess::Found& found, const model::Run& run) {
  const double missing = found.byte_s - found.seen_byte_s;
  return run.placement.rules.empty() && missing > found.byte_s / 2 && found.shared_byte_s > missing / 2;
}

// Rules of `mlrun advise --apart` name sites by their call stacks: a trace without them is not enough.
std::string apart_text(const std::string& rung, const model::Run& run) {
  constexpr const char* kStacks = "--stacks=16 --alloc-min=64K";
  const bool has_stacks = run.options.stack_depth > 0;
  return fmt::format(
      "call sites whose blocks share a mapping cannot be distinguished; to give them mappings of their own: {}mlrun "
      "advise {} --apart -o FILE, then mlrun --place FILE --access={} {} COMMAND",
      has_stacks ? "" : fmt::format("mlrun {} -o NEW COMMAND, then ", kStacks), has_stacks ? "TRACE" : "NEW",
      printable(rung), kStacks);
}

// One line: the mechanism, how much of the memory it attributes, its cost.
std::string rung_line(const Rung& rung, const model::Run& run, const TextStyle& style) {
  std::vector<std::string> items = {"by " + printable(rung.rung)};
  for (const model::MemoryAccess::Found& found : run.access.by_rung) {
    if (found.rung != rung.rung) continue;
    items.push_back(attributed_text(found.seen_byte_s, found.byte_s) + " of listed bytes × time attributed");
    if (found.rows > 0 && util::records_events(util::access_rung_of(rung.rung)))
      items.push_back(util::percent_text(found.rows - found.joined_rows, found.rows) +
                      " of its samples in no listed block");
    if (needs_sites_apart(found, run)) items.push_back(apart_text(rung.rung, run));
  }
  if (rung.on_ns < rung.all_ns) items.push_back("seen " + util::percent_text(rung.on_ns, rung.all_ns) + " of the time");
  if (rung.worst_stall_ns > 0)
    items.push_back("page faults held back at most " + util::time_text(rung.worst_stall_ns, style.glyphs));
  if (rung.worst_read_ns > 0)
    items.push_back("changes of its mappings at most " + util::time_text(rung.worst_read_ns, style.glyphs));
  items.push_back("costs: " + printable(rung.cost));
  items.push_back("not seen: " + printable(rung.blind_to));
  return wrap(style.bold("ACCESS"), kLead, items, style);
}

}  // namespace

std::string memory_rungs_text(const Summary& summary, const TextStyle& style) {
  std::string out;
  for (const Rung& rung : summary.run.access.rungs) out += rung_line(rung, summary.run, style);
  return out;
}

std::string memory_sites_text(const Summary& summary, const TextStyle& style) {
  std::string out;
  for (const model::MemoryAccess::Found& found : summary.run.access.by_rung) {
    TextTable table(
        {"ACCESS by " + printable(found.rung), "blocks", "bytes", "attributed", "hot", "loads", "stores", "faults"});
    for (const model::MemoryAccess::Site& site :
         std::span(found.largest).first(std::min(found.largest.size(), kShownSites))) {
      table.add({printable(site.site), util::count_text(site.blocks), util::bytes_text(site.bytes),
                 attributed_text(site.seen_byte_s, site.byte_s),
                 site.hot_fraction ? util::percent_text(*site.hot_fraction) : "-", util::count_text(site.loads),
                 util::count_text(site.stores), util::count_text(site.faults)});
    }
    if (!found.largest.empty()) out += table.text(style);
  }
  return out;
}

}  // namespace mlrun::report
