// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/toml_keys.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "runner/sweep/plan/shell_words.h"
#include "runner/util/number.h"
#include "runner/util/similar.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

constexpr double kSecondsMax = 1e9;

const char* type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::none: return "nothing";
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "a text";
    case toml::node_type::integer: return "a whole number";
    case toml::node_type::floating_point: return "a number";
    case toml::node_type::boolean: return "true or false";
    case toml::node_type::date: return "a date";
    case toml::node_type::time: return "a time of day";
    case toml::node_type::date_time: return "a date";
  }
  return "something else";
}

// "3 %" or "0.03".
std::optional<double> parse_fraction(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto value = util::real_number(text);
  return value && is_percent ? *value / 100 : value;
}

}  // namespace

bool scalar_text(const toml::node& node, std::string& text) {
  if (const auto* string = node.as_string()) {
    text = string->get();
  } else if (const auto* whole = node.as_integer()) {
    text = std::to_string(whole->get());
  } else if (const auto* real = node.as_floating_point()) {
    text = fmt::format("{}", real->get());
    if (std::isfinite(real->get()) && text.find_first_of(".e") == std::string::npos) text += ".0";
  } else if (const auto* truth = node.as_boolean()) {
    text = truth->get() ? "true" : "false";
  } else {
    return false;
  }
  return true;
}

const toml::node* TomlKeys::find(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  return table_.get(key);
}

Place TomlKeys::place_of(const std::string& key) const {
  Place place = place_;
  place.key = place_.key.empty() ? key : place_.key + "." + key;
  const auto found = table_.find(key);
  if (found != table_.end()) place.line = static_cast<int>(found->first.source().begin.line);
  return place;
}

Place TomlKeys::place_of(const std::string& key, const toml::node& node) const {
  Place place = place_of(key);
  if (node.source().begin.line != 0) place.line = static_cast<int>(node.source().begin.line);
  return place;
}

void TomlKeys::wrong_type(const std::string& key, const toml::node& node, const std::string& wanted) {
  faults_.add(place_of(key, node), fmt::format("this is {}; write {}", type_name(node), wanted));
}

bool TomlKeys::text_of(const std::string& key, const toml::node& node, std::string& value) {
  const auto* string = node.as_string();
  if (string == nullptr) {
    wrong_type(key, node, "a text, as in \"...\"");
  } else if (string->get().find('\0') != std::string::npos) {
    faults_.add(place_of(key, node), "the text has a null character, which cannot be passed to a program");
  } else if (string->get().find_first_not_of(" \t\r\n") == std::string::npos) {
    faults_.add(place_of(key, node), "the text is empty; write one, or leave it out");
  } else {
    value = string->get();
    return true;
  }
  return false;
}

bool TomlKeys::text(const std::string& key, std::string& value) {
  const toml::node* node = find(key);
  return node != nullptr && text_of(key, *node, value);
}

bool TomlKeys::flag(const std::string& key, bool& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (!node->is_boolean()) {
    wrong_type(key, *node, "true or false");
    return false;
  }
  value = node->as_boolean()->get();
  return true;
}

bool TomlKeys::number(const std::string& key, int64_t least, int64_t most, int64_t& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto* whole = node->as_integer();
  if (whole == nullptr) {
    wrong_type(key, *node, "a whole number");
  } else if (whole->get() < least || whole->get() > most) {
    faults_.add(place_of(key, *node), fmt::format("{} is not from {} to {}", whole->get(), least, most));
  } else {
    value = whole->get();
    return true;
  }
  return false;
}

bool TomlKeys::fraction(const std::string& key, double& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  std::string text;
  if (node->is_boolean() || !scalar_text(*node, text)) {
    wrong_type(key, *node, "a fraction such as 0.03, or \"3 %\"");
    return false;
  }
  const auto read = parse_fraction(text);
  if (!read || !(*read > 0 && *read < 1)) {
    faults_.add(place_of(key, *node),
                fmt::format("'{}' is no fraction between 0 and 1; write one such as 0.03, or \"3 %\"", text));
    return false;
  }
  value = *read;
  return true;
}

bool TomlKeys::time(const std::string& key, uint64_t& ns) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (const auto seconds = node->value<double>(); node->is_number()) {
    if (*seconds > 0 && *seconds <= kSecondsMax) {
      ns = static_cast<uint64_t>(*seconds * 1e9);
      return true;
    }
    faults_.add(place_of(key, *node), "a number of seconds is greater than 0 and at most 1e9");
    return false;
  }
  std::string text;
  if (!node->is_string()) {
    wrong_type(key, *node, "a time such as \"30s\" or \"5min\", or a number of seconds");
    return false;
  }
  if (!text_of(key, *node, text)) return false;
  const auto read = util::parse_seconds(text);
  if (!read || *read == 0) {
    faults_.add(place_of(key, *node), read ? "the time must be greater than 0" : read.error().text);
    return false;
  }
  ns = *read;
  return true;
}

bool TomlKeys::choice(const std::string& key, const std::vector<std::string>& names, size_t& index) {
  std::string value;
  if (!text(key, value)) return false;
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) {
    faults_.add(place_of(key), fmt::format("'{}' is none of {}", value, fmt::join(names, ", ")));
    return false;
  }
  index = static_cast<size_t>(found - names.begin());
  return true;
}

bool TomlKeys::words(const std::string& key, Words& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (node->is_array()) return texts(key, value);
  std::string line;
  if (!node->is_string()) {
    wrong_type(key, *node, "a text of shell words, or an array of words");
    return false;
  }
  if (!text_of(key, *node, line)) return false;
  auto split = shell_words(line);
  if (!split) {
    faults_.add(place_of(key, *node), split.error().text);
    return false;
  }
  value = *std::move(split);
  return true;
}

bool TomlKeys::texts(const std::string& key, std::vector<std::string>& value, std::vector<Place>* places) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  std::vector<std::string> read(1);
  const auto* array = node->as_array();
  if (array == nullptr) {
    if (!node->is_string()) {
      wrong_type(key, *node, "an array of texts");
      return false;
    }
    if (!text_of(key, *node, read.front())) return false;
    if (places != nullptr) places->push_back(place_of(key, *node));
  } else {
    read.resize(array->size());
    if (array->empty()) {
      faults_.add(place_of(key, *node), "the array is empty; name at least one, or leave it out");
      return false;
    }
    for (size_t i = 0; i < array->size(); i++) {
      if (!text_of(key, (*array)[i], read[i])) return false;
      if (places != nullptr) places->push_back(place_of(key, (*array)[i]));
    }
  }
  value = std::move(read);
  return true;
}

void TomlKeys::scalars(const std::string& key, const std::string& what,
                       const std::function<void(const std::string&, std::string)>& take) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto* table = node->as_table();
  if (table == nullptr) return wrong_type(key, *node, "a table of " + what);
  for (const auto& [name, value] : *table) {
    std::string text;
    Place place = place_of(key).below(std::string(name.str()));
    place.line = static_cast<int>(name.source().begin.line);
    if (!scalar_text(value, text)) {
      faults_.add(place, fmt::format("this is {}; write one text or number", type_name(value)));
    } else if (text.find('\0') != std::string::npos) {
      faults_.add(place, "the text has a null character, which cannot be passed to a program");
    } else {
      take(std::string(name.str()), std::move(text));
    }
  }
}

bool TomlKeys::refuse_others(const std::vector<std::string>& of_plan) {
  bool none = true;
  for (const auto& [name, value] : table_) {
    const std::string key(name.str());
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    none = false;
    if (std::find(of_plan.begin(), of_plan.end(), key) != of_plan.end()) {
      faults_.add(place_of(key), fmt::format("{} is a key of the plan: write it above the first line with [ ]", key));
      continue;
    }
    const std::string meant = util::most_similar(key, known_);
    faults_.add(place_of(key),
                "there is no such key; " + (meant.empty() ? fmt::format("there are {}", fmt::join(known_, ", "))
                                                          : "did you mean " + meant + "?"));
  }
  return none;
}

}  // namespace mlrun::sweep
