// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/advice.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "runner/sweep/advise/rules_table.h"
#include "runner/sweep/advise/toml_text.h"

namespace mlrun::sweep {

namespace {

constexpr const char* kNoLimit = "4T";  // the budget of a rule that refuses no block: the addresses of all heaps

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
    text += site_rule_text(advice, 0, advice.signatures.size(), advice.min_bytes);
    text += fmt::format("to = {}\n", toml_text(advice.spread.empty() ? advice.fast : advice.spread));
    if (advice.has_budget) text += fmt::format("budget = \"{}\"\n", advice.capacity_bytes);
  }
  return text + fmt::format("\n[[rule]]\nsize = \">= {}\"\nto = {}\n", advice.min_bytes, toml_text(advice.slow));
}

// The keys of what a recorded command ran under and how it failed, and their values.
auto conditions(auto& command) {
  return std::array{std::pair{"input", &command.input}, std::pair{"cpus", &command.cpus},
                    std::pair{"policy", &command.policy}, std::pair{"mem_node", &command.mem_node},
                    std::pair{"failure", &command.failure}};
}

double number_at(const toml::table& table, const char* key) { return table[key].value_or(0.0); }

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
      advice.gain_most, toml_list(advice.command.words), toml_text(advice.command.folder));
  for (const auto& [key, value] : conditions(advice.command)) {
    if (!value->empty()) text += fmt::format("{} = {}\n", key, toml_text(*value));
  }
  if (!advice.spread.empty()) text += fmt::format("spread = {}\n", toml_text(advice.spread));
  if (advice.prediction) text += prediction_text(*advice.prediction);
  return text + names_text(advice) + rules_text(advice);
}

std::string other_rule(const Advice& advice, const std::string& target, const std::string& site) {
  const bool has_budget = advice.has_budget && target != advice.slow && target != kKernelsChoice;
  return fmt::format("size >= {}{}{} -> {}{}{}", advice.min_bytes, site.empty() ? "" : " and site ", site, target,
                     has_budget ? " budget " : "", has_budget ? kNoLimit : "");
}

Result<Advice> read_advice(const std::string& path) {
  const auto read = read_rules_table(path);
  if (!read) return tl::make_unexpected(read.error());
  const toml::table& file = *read;
  const toml::table* table = file["advice"].as_table();
  if (table == nullptr) return fail(path + " has no table [advice]: name a file that mlrun advise wrote, or a trace");
  if ((*table)["apart"].value_or(false))
    return fail(path +
                " keeps call sites apart and chooses no memory, so it has no prediction to test: leave out --try");
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
  add_sites_of_rule(file, 0, advice);  // those of the chosen sites, or the rule for all other blocks, which names none
  if (advice.command.words.empty() || advice.fast.empty() || advice.slow.empty() || advice.figure.empty())
    return fail(path +
                ": its table [advice] lacks command, fast, slow or figure; write it again: mlrun advise TRACE --fast "
                "NODE=SIZE -o FILE");
  return advice;
}

}  // namespace mlrun::sweep
