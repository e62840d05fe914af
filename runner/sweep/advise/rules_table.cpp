// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/rules_table.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/util/file_io.h"

namespace mlrun::sweep {

Result<toml::table> read_rules_table(const std::string& path) {
  const auto text = util::read_file(path, util::kWrittenBytesMax);
  if (!text) return fail(fmt::format("{}: {}", path, text.error().text));
  try {
    return toml::parse(*text);
  } catch (const toml::parse_error& error) {
    return fail(fmt::format("{}: line {}: {}", path, error.source().begin.line, error.description()));
  }
}

void add_sites_of_rule(const toml::table& file, size_t rule, NamedSites& sites) {
  const toml::table* const functions = file["advice"]["functions"].as_table();
  const toml::table* const libraries = file["advice"]["libraries"].as_table();
  const auto text_of = [](const toml::table* table, const std::string& key) {
    return table == nullptr ? std::string() : (*table)[key].value_or(std::string());
  };
  const toml::array* const signatures = file["rule"][rule]["site"].as_array();
  if (signatures == nullptr) return;
  for (const auto& site : *signatures) {
    std::vector<std::string> places, names;
    const toml::array* const frames = site.as_array();
    if (frames == nullptr) continue;
    for (const auto& frame : *frames) {
      const std::string place = frame.value_or(std::string());
      const std::string function = text_of(functions, place);
      places.push_back(place);
      if (names.size() < kLabelFrames) names.push_back(function.empty() ? "?" : function);
      const std::string library = text_of(libraries, place.substr(0, place.find('+')));
      if (!library.empty()) sites.frames.push_back({place, function, library});
    }
    sites.signatures.push_back(fmt::format("{}", fmt::join(places, ",")));
    sites.labels.push_back(fmt::format("{}", fmt::join(names, " < ")));
  }
}

}  // namespace mlrun::sweep
