// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/named_sites.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "runner/sweep/advise/toml_text.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

void NamedSites::add(const Site& site) {
  signatures.push_back(site.signature);
  labels.push_back(site.label);
  frames.insert(frames.end(), site.frames.begin(), site.frames.end());
}

std::string site_rule_text(const NamedSites& sites, size_t begin, size_t end, uint64_t min_bytes) {
  std::string text = fmt::format("\n[[rule]]\nsize = \">= {}\"\nsite = [\n", min_bytes);
  for (size_t i = begin; i < end; i++) {
    std::vector<std::string> frames;
    for (const std::string_view frame : util::split(sites.signatures[i], ",")) frames.emplace_back(frame);
    text += fmt::format("  # {}\n  {},\n", util::printable(sites.labels[i]), toml_list(frames));
  }
  return text + "]\n";
}

std::string names_text(const NamedSites& sites) {
  std::map<std::string, std::string> functions, libraries;
  for (const FrameName& frame : sites.frames) {
    if (!frame.library.starts_with('/')) continue;
    if (!frame.function.empty()) functions[frame.place] = frame.function;
    libraries[frame.place.substr(0, frame.place.find('+'))] = frame.library;
  }
  std::string text;
  for (const auto& [name, table] : {std::pair{"functions", &functions}, std::pair{"libraries", &libraries}}) {
    if (!table->empty()) text += fmt::format("[advice.{}]\n", name);
    for (const auto& [key, value] : *table) text += fmt::format("{} = {}\n", toml_text(key), toml_text(value));
  }
  return text.empty() ? text
                      : "\n# Names by which mlrun advise finds the callers in another build of their files.\n" + text;
}

}  // namespace mlrun::sweep
