// SPDX-License-Identifier: Apache-2.0
// Which functions allocate most, and which spend most time on files (--stacks).
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/text.h"

namespace mlrun::report {
namespace {

constexpr size_t kSitesShown = 4;  // of each kind

std::string part(const Summary& summary, summary::SiteKind kind, const char* title, const TextStyle& style) {
  TextTable table({title, "calls", "bytes", "time", "in"});
  size_t shown = 0;
  for (const summary::SiteSummary& site : summary.sites) {
    if (site.kind != kind || shown++ >= kSitesShown) continue;
    table.add({printable(site.function), util::count_text(site.calls), util::bytes_text(site.bytes),
               site.time_ns == 0 ? "-" : util::time_text(site.time_ns, style.glyphs),
               site.library.empty() ? "-" : printable(util::base_name(site.library))});
  }
  return table.empty() ? std::string() : table.text(style);
}

// Without symbols a frame is "+0x5a11ec", which for Python's own program is of no use.
std::string python_hint(const Summary& summary, const TextStyle& style) {
  const bool nameless = std::any_of(summary.sites.begin(), summary.sites.end(), [](const summary::SiteSummary& site) {
    return site.function.starts_with("+0x") && util::base_name(site.library).find("python") != std::string::npos;
  });
  return nameless
             ? style.dim("frames of the Python program have no names: record with --python-stacks for Python lines") +
                   "\n"
             : "";
}

}  // namespace

std::string sites_text(const Summary& summary, const TextStyle& style) {
  const std::string allocations = part(summary, summary::SiteKind::kAllocations, "ALLOCATED BY", style);
  const std::string files = part(summary, summary::SiteKind::kFiles, "FILE CALLS BY", style);
  return allocations + (allocations.empty() || files.empty() ? "" : "\n") + files + python_hint(summary, style);
}

}  // namespace mlrun::report
