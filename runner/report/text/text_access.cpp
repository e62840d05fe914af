// SPDX-License-Identifier: Apache-2.0
// Which memory was accessed (--access), how it was seen and what cannot be.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/json_at.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

constexpr size_t kShownSites = 10;

double real_at(const json& object, const char* key) {
  const json& value = util::json_at(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

std::string share_text(double part, double whole) {
  return whole <= 0 ? "-" : fmt::format("{:.1f} %", 100 * part / whole);
}

// In one line: rung, how much of the memory it can speak of, what it costs.
std::string rung_line(const json& rung, const json& run, const TextStyle& style) {
  const std::string name = util::text_at(rung, "/rung");
  std::vector<std::string> items = {"by " + printable(name)};
  for (const json& found : util::list_at(run, "/access/by_rung")) {
    if (util::text_at(found, "/rung") == name)
      items.push_back(share_text(real_at(found, "/seen_byte_s"), real_at(found, "/byte_s")) +
                      " of listed bytes × time attributed");
  }
  const int64_t on_ns = util::integer_at(rung, "/on_ns"), all_ns = util::integer_at(rung, "/all_ns");
  if (on_ns < all_ns) items.push_back("seen " + percent_text(on_ns, all_ns) + " of the time");
  if (const int64_t worst_ns = util::integer_at(rung, "/worst_stall_ns"); worst_ns > 0)
    items.push_back("page faults held back at most " + time_text(worst_ns, style.glyphs));
  if (const int64_t worst_ns = util::integer_at(rung, "/worst_read_ns"); worst_ns > 0)
    items.push_back("changes of its mappings at most " + time_text(worst_ns, style.glyphs));
  items.push_back("costs: " + printable(util::text_at(rung, "/cost")));
  items.push_back("not seen: " + printable(util::text_at(rung, "/blind_to")));
  return wrap(style.bold("ACCESS"), kLead, items, style);
}

std::string hot_text(const json& site) {
  const json& hot = util::json_at(site, "/hot_fraction");
  return hot.is_number() ? share_text(hot.get<double>(), 1) : "-";
}

}  // namespace

std::string memory_rungs_text(const Summary& summary, const TextStyle& style) {
  std::string out;
  for (const json& rung : util::list_at(*summary.run, "/access/rungs")) out += rung_line(rung, *summary.run, style);
  return out;
}

std::string memory_sites_text(const Summary& summary, const TextStyle& style) {
  const json& run = *summary.run;
  std::string out;
  for (const json& found : util::list_at(run, "/access/by_rung")) {
    TextTable table({"ACCESS by " + printable(util::text_at(found, "/rung")), "blocks", "bytes", "attributed", "hot",
                     "loads", "stores", "faults"});
    size_t shown = 0;
    for (const json& site : util::list_at(found, "/largest")) {
      if (shown++ == kShownSites) break;
      table.add({printable(util::text_at(site, "/site")), count_text(util::integer_at(site, "/blocks")),
                 bytes_text(util::integer_at(site, "/bytes")),
                 share_text(real_at(site, "/seen_byte_s"), real_at(site, "/byte_s")), hot_text(site),
                 count_text(util::integer_at(site, "/loads")), count_text(util::integer_at(site, "/stores")),
                 count_text(util::integer_at(site, "/faults"))});
    }
    if (shown != 0) out += table.text(style);
  }
  return out;
}

}  // namespace mlrun::summary
