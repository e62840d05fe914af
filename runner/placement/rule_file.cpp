// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/rule_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "runner/placement/build_id.h"
#include "runner/placement/rule_text.h"
#include "runner/util/file_io.h"
#include "runner/util/similar.h"
#include "runner/util/text.h"

namespace mlrun::placement {

namespace {

constexpr std::array<std::string_view, 11> kKeys = {"size", "mmap",   "library", "function", "site", "process",
                                                    "to",   "strict", "budget",  "huge",     "heap"};

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

// Converts a [[rule]] to the same rule as one line of text.
class Table {
 public:
  Table(const std::string& path, const toml::table& table) : path_(path), table_(table) {}

  Result<Rule> read() {
    for (const auto& [key, value] : table_) {
      if (std::find(kKeys.begin(), kKeys.end(), key.str()) != kKeys.end()) continue;
      const std::string meant = util::most_similar(key.str(), {kKeys.begin(), kKeys.end()});
      return wrong(value, fmt::format("'{}' is no key of a rule{}", key.str(),
                                      meant.empty() ? "" : "; did you mean " + meant + "?"));
    }
    std::string text;
    for (const char* const key : {"size", "library", "function"}) add(text, key, fmt::format("{} ", key));
    add(text, "process", "");
    add_site(text);
    if (is_set("mmap")) text = "mmap " + text;
    text += "-> ";
    if (!table_.contains("to"))
      return fail(fmt::format("{}: line {}: the rule has no key 'to'", path_, line_of(table_)));
    add(text, "to", "");
    for (const char* const key : {"strict", "huge"}) text += is_set(key) ? fmt::format("{} ", key) : "";
    for (const char* const key : {"budget", "heap"}) add(text, key, fmt::format("{} ", key));
    if (error_) return fail(*error_);
    text.pop_back();
    auto rule = parse_rule(text);
    if (!rule) return fail(fmt::format("{}: line {}: {}", path_, line_of(table_), rule.error().text));
    return rule;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const toml::node& node, const std::string& what) const {
    return fail(fmt::format("{}: line {}: {}", path_, line_of(node), what));
  }

  void add(std::string& text, const char* key, const std::string& before) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::string>();
    if (!value) {
      error_ = wrong(*node, fmt::format("'{}' must be a text", key)).value().text;
      return;
    }
    text += before + *value + ' ';
  }

  void add_site(std::string& text) {
    const toml::node* node = table_.get("site");
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    std::vector<std::string> signatures;
    bool good = list != nullptr && !list->empty();
    if (good && list->is_homogeneous<std::string>()) {
      good = add_signature(list, signatures);
    } else if (good) {
      for (const auto& one : *list) good = good && add_signature(one.as_array(), signatures);
    }
    if (!good)
      error_ = wrong(*node, "'site' must be a list of texts such as [\"1f2e3d4c+0x7a10\"], or a list of such lists")
                   .value()
                   .text;
    text += fmt::format("site {} ", fmt::join(signatures, ";"));
  }

  static bool add_signature(const toml::array* frames, std::vector<std::string>& signatures) {
    if (frames == nullptr || frames->empty() || !frames->is_homogeneous<std::string>()) return false;
    std::vector<std::string> texts;
    for (const auto& frame : *frames) texts.push_back(*frame.value<std::string>());
    signatures.push_back(fmt::format("{}", fmt::join(texts, ",")));
    return true;
  }

  bool is_set(const char* key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return false;
    if (!node->is_boolean()) error_ = wrong(*node, fmt::format("'{}' must be true or false", key)).value().text;
    return node->value_or(false);
  }

  const std::string& path_;
  const toml::table& table_;
  std::optional<std::string> error_;
};

// The remark about files of a rule's callers that are another build than the one `mlrun advise` stored; empty: there are none.
std::string changed_files(const std::string& path, const toml::table& file) {
  std::vector<std::string> changed;
  if (const toml::table* const libraries = file["advice"]["libraries"].as_table(); libraries != nullptr) {
    for (const auto& [id, library] : *libraries) {
      const auto name = library.value<std::string>();
      if (name && !build_id_of(util::unescaped_utf8(*name)).starts_with(id.str()))
        changed.push_back(util::printable(*name));
    }
  }
  if (changed.empty()) return {};
  return fmt::format(
      "--place {}: not the build that was recorded: {}. Its callers are not recognised; mlrun advise {} -o NEW finds "
      "them "
      "by the names of their functions",
      path, fmt::join(changed, ", "), path);
}

}  // namespace

Result<std::vector<Rule>> read_rule_file(const std::string& path) {
  const auto text = util::read_file(path, util::kWrittenBytesMax);
  if (!text)
    return fail(
        fmt::format("{}: {}; a rule has a '->', and everything else is the name of a file", path, text.error().text));
  toml::table file;
  try {
    file = toml::parse(*text);
  } catch (const toml::parse_error& error) {
    return fail(fmt::format("{}: line {}: {}", path, error.source().begin.line, error.description()));
  }
  const toml::array* tables = file["rule"].as_array();
  if (tables == nullptr || !tables->is_array_of_tables()) return fail(path + " has no [[rule]]");
  for (const auto& [key, value] : file) {
    if (key.str() != "rule" && key.str() != "advice")
      return fail(fmt::format("{}: line {}: '{}' is unknown; a file of rules has [[rule]] alone", path, line_of(value),
                              key.str()));
  }
  std::vector<Rule> rules;
  for (const auto& table : *tables) {
    auto rule = Table(path, *table.as_table()).read();
    if (!rule) return tl::make_unexpected(rule.error());
    rules.push_back(*std::move(rule));
  }
  if (!rules.empty()) rules.front().remark = changed_files(path, file);
  return rules;
}

}  // namespace mlrun::placement
