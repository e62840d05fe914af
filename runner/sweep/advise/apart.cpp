// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/apart.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/sweep/advise/rules_table.h"
#include "runner/sweep/advise/toml_text.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

// The run that measures. Without stacks, a site is the code that calls the allocator: for all of C++ operator new.
std::string next_command(const std::string& file, uint64_t min_bytes) {
  return fmt::format("mlrun --place {} --access=cold --stacks=16 --alloc-min={} COMMAND", file, min_bytes);
}

}  // namespace

ApartSites largest_sites(const std::string& trace, uint64_t min_bytes, const TraceSites& found, size_t count) {
  std::vector<const Site*> sites;
  double all = found.elsewhere.byte_seconds, chosen = 0;
  for (const Site& site : found.sites) {
    sites.push_back(&site);
    all += site.byte_seconds;
  }
  std::stable_sort(sites.begin(), sites.end(),
                   [](const Site* a, const Site* b) { return a->byte_seconds > b->byte_seconds; });
  sites.resize(std::min(count, sites.size()));
  ApartSites apart;
  apart.trace = trace;
  apart.min_bytes = min_bytes;
  for (const Site* site : sites) {
    apart.add(*site);
    chosen += site->byte_seconds;
  }
  apart.share = all > 0 ? chosen / all : 0;
  return apart;
}

std::string apart_text(const ApartSites& apart) {
  std::string text = fmt::format(
      "# A rule for each of the largest call sites, by `mlrun advise --apart`: their blocks have mappings of their "
      "own, "
      "on the nodes of the\n# kernel's default policy. Use it: {}\n"
      "[advice]\napart = true\ntrace = {}\nmin_bytes = {}\n",
      next_command("FILE", apart.min_bytes), toml_text(apart.trace), apart.min_bytes);
  text += names_text(apart);
  for (size_t i = 0; i < apart.signatures.size(); i++)
    text += site_rule_text(apart, i, i + 1, apart.min_bytes) + "to = \"default\"\n";
  return text;
}

Result<std::optional<ApartSites>> read_apart(const std::string& path) {
  const auto file = read_rules_table(path);
  if (!file) return tl::make_unexpected(file.error());
  const auto advice = (*file)["advice"];
  if (!advice["apart"].value_or(false)) return std::nullopt;
  ApartSites apart;
  apart.trace = advice["trace"].value_or(std::string());
  apart.min_bytes = static_cast<uint64_t>(advice["min_bytes"].value_or(int64_t{0}));
  const toml::array* const rules = (*file)["rule"].as_array();
  for (size_t i = 0; rules != nullptr && i < rules->size(); i++) add_sites_of_rule(*file, i, apart);
  return apart;
}

std::vector<std::string> sort_out_alike(ApartSites& apart) {
  std::vector<std::string> signatures, labels, left_out;
  for (size_t i = 0; i < apart.signatures.size(); i++) {
    const std::string& signature = apart.signatures[i];
    const auto before = std::find_if(signatures.begin(), signatures.end(), [&](const std::string& other) {
      return (signature + ",").starts_with(other + ",");
    });
    if (before != signatures.end() && *before == signature) {
      left_out.push_back(apart.labels[i]);
      continue;
    }
    labels.insert(labels.begin() + (before - signatures.begin()), apart.labels[i]);
    signatures.insert(before, signature);
  }
  apart.signatures = std::move(signatures);
  apart.labels = std::move(labels);
  return left_out;
}

std::string apart_summary_text(const ApartSites& apart, const TraceSites& found, const std::string& file) {
  std::string text = fmt::format(
      "{} of {} call sites have a rule each; they have {:.1f} % of the bytes x time of all blocks of {} and more\n",
      apart.signatures.size(), found.sites.size(), 100 * apart.share, util::size_text(apart.min_bytes));
  for (const std::string& label : apart.labels) text += "  " + util::printable(label) + "\n";
  return text + fmt::format("next: {}\n", next_command(util::shell_quoted(file), apart.min_bytes));
}

}  // namespace mlrun::sweep
