// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/advice.h"

#include <toml++/toml.h>

#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/sweep/advise/toml_text.h"
#include "runner/util/file_io.h"
#include "runner/util/text.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

namespace {

constexpr const char* kNoLimit = "4T";  // the budget of a rule that refuses no block: the addresses of all heaps

std::string list_of(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(toml_text(text));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

std::string prediction_text(const Prediction& prediction) {
  return fmt::format(
      "\n# The expected change of the run time, as a fraction of that with all these blocks on the slow memory; 95 % "
      "interval.\n"
      "[advice.prediction]\nchange = {:.6f}\nlow = {:.6f}\nhigh = {:.6f}\n{}far_s = {:.6f}\nblocks = {}\n",
      prediction.change, prediction.low, prediction.high,
      prediction.near_s > 0 ? fmt::format("near_s = {:.6f}\n", prediction.near_s) : "", prediction.far_s,
      prediction.blocks);
}

std::string rules_text(const Advice& advice) {
  std::string text;
  if (!advice.signatures.empty()) {
    text += fmt::format("\n[[rule]]\nsize = \">= {}\"\nsite = [\n", advice.min_bytes);
    for (size_t i = 0; i < advice.signatures.size(); i++) {
      std::vector<std::string> frames;
      for (const std::string_view frame : util::split(advice.signatures[i], ",")) frames.emplace_back(frame);
      text += fmt::format("  # {}\n  {},\n", util::printable(advice.labels[i]), list_of(frames));
    }
    text += fmt::format("]\nto = {}\n", toml_text(advice.spread.empty() ? advice.fast : advice.spread));
    if (advice.has_budget) text += fmt::format("budget = \"{}\"\n", advice.capacity_bytes);
  }
  return text + fmt::format("\n[[rule]]\nsize = \">= {}\"\nto = {}\n", advice.min_bytes, toml_text(advice.slow));
}

// Names of functions and files, since another build has other offsets. A stripped file has no names, but it is known when it is another build.
std::string frames_text(const Advice& advice) {
  std::map<std::string, std::string> functions, libraries;
  for (const FrameName& frame : advice.frames) {
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

// The keys of what a recorded command ran under and how it failed, and their values.
auto conditions(auto& command) {
  return std::array{std::pair{"input", &command.input}, std::pair{"cpus", &command.cpus},
                    std::pair{"policy", &command.policy}, std::pair{"mem_node", &command.mem_node},
                    std::pair{"failure", &command.failure}};
}

double number_at(const toml::table& table, const char* key) { return table[key].value_or(0.0); }

// The chosen sites are those of the first rule. If it names none, it is the rule for all other blocks.
void read_sites_of(const toml::table& file, Advice& advice) {
  const toml::table* const functions = file["advice"]["functions"].as_table();
  const toml::table* const libraries = file["advice"]["libraries"].as_table();
  const auto text_of = [](const toml::table* table, const std::string& key) {
    return table == nullptr ? std::string() : (*table)[key].value_or(std::string());
  };
  const toml::array* const sites = file["rule"][0]["site"].as_array();
  if (sites == nullptr) return;
  for (const auto& site : *sites) {
    std::vector<std::string> places, names;
    const toml::array* const frames = site.as_array();
    if (frames == nullptr) continue;
    for (const auto& frame : *frames) {
      const std::string place = frame.value_or(std::string());
      const std::string function = text_of(functions, place);
      places.push_back(place);
      if (names.size() < kLabelFrames) names.push_back(function.empty() ? "?" : function);
      const std::string library = text_of(libraries, place.substr(0, place.find('+')));
      if (!library.empty()) advice.frames.push_back({place, function, library});
    }
    advice.signatures.push_back(fmt::format("{}", fmt::join(places, ",")));
    advice.labels.push_back(fmt::format("{}", fmt::join(names, " < ")));
  }
}

}  // namespace

std::string advice_text(const Advice& advice) {
  std::string text = fmt::format(
      "# Which blocks get the fast memory, by `mlrun advise`. Use it: mlrun --place FILE COMMAND\n"
      "[advice]\ntrace = {}\nfast = {}\nslow = {}\nfigure = {}\ncapacity_bytes = {}\nmin_bytes = {}\nall_fits = "
      "{}\nranked_by = {}\n"
      "# Fractions of the gain of all sites: gain of the chosen sites, and upper bound of any choice.\ngain = "
      "{:.6f}\ngain_most "
      "= {:.6f}\n"
      "command = {}\nfolder = {}\n",
      toml_text(advice.trace), toml_text(advice.fast), toml_text(advice.slow), toml_text(advice.figure),
      advice.capacity_bytes, advice.min_bytes, advice.all_fits, toml_text(advice.ranked_by), advice.gain,
      advice.gain_most, list_of(advice.command.words), toml_text(advice.command.folder));
  for (const auto& [key, value] : conditions(advice.command)) {
    if (!value->empty()) text += fmt::format("{} = {}\n", key, toml_text(*value));
  }
  if (!advice.spread.empty()) text += fmt::format("spread = {}\n", toml_text(advice.spread));
  if (advice.prediction) text += prediction_text(*advice.prediction);
  return text + frames_text(advice) + rules_text(advice);
}

std::string other_rule(const Advice& advice, const std::string& target, const std::string& site) {
  const bool has_budget = advice.has_budget && target != advice.slow && target != kKernelsChoice;
  return fmt::format("size >= {}{}{} -> {}{}{}", advice.min_bytes, site.empty() ? "" : " and site ", site, target,
                     has_budget ? " budget " : "", has_budget ? kNoLimit : "");
}

Result<Advice> read_advice(const std::string& path) {
  const auto text = util::read_file(path, util::kWrittenBytesMax);
  if (!text) return fail(fmt::format("{}: {}", path, text.error().text));
  toml::table file;
  try {
    file = toml::parse(*text);
  } catch (const toml::parse_error& error) {
    return fail(fmt::format("{}: line {}: {}", path, error.source().begin.line, error.description()));
  }
  const toml::table* table = file["advice"].as_table();
  if (table == nullptr) return fail(path + " has no table [advice]: name a file that mlrun advise wrote, or a trace");
  Advice advice;
  const auto word = [&](const char* key) { return (*table)[key].value_or(std::string()); };
  advice.trace = word("trace");
  advice.fast = word("fast");
  advice.slow = word("slow");
  advice.figure = word("figure");
  advice.ranked_by = word("ranked_by");
  advice.command.folder = word("folder");
  for (const auto& [key, value] : conditions(advice.command)) *value = word(key);
  advice.spread = word("spread");
  advice.capacity_bytes = static_cast<uint64_t>((*table)["capacity_bytes"].value_or(int64_t{0}));
  advice.min_bytes = static_cast<uint64_t>((*table)["min_bytes"].value_or(int64_t{0}));
  advice.has_budget = file["rule"][0]["budget"].is_string();
  advice.all_fits = (*table)["all_fits"].value_or(true);
  advice.gain = number_at(*table, "gain");
  advice.gain_most = number_at(*table, "gain_most");
  if (const toml::array* words = (*table)["command"].as_array(); words != nullptr) {
    for (const auto& one : *words) advice.command.words.push_back(one.value_or(std::string()));
  }
  if (const toml::table* found = (*table)["prediction"].as_table(); found != nullptr) {
    advice.prediction =
        Prediction{number_at(*found, "change"), number_at(*found, "low"),   number_at(*found, "high"),
                   number_at(*found, "near_s"), number_at(*found, "far_s"), (*found)["blocks"].value_or(int64_t{0})};
  }
  read_sites_of(file, advice);
  if (advice.command.words.empty() || advice.fast.empty() || advice.slow.empty() || advice.figure.empty())
    return fail(path +
                ": its table [advice] lacks command, fast, slow or figure; write it again: mlrun advise TRACE --fast "
                "NODE=SIZE -o FILE");
  return advice;
}

}  // namespace mlrun::sweep
