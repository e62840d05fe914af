// SPDX-License-Identifier: Apache-2.0
// The keys of one TOML table as checked values. Wrong values go to Faults, and so do keys that are never looked up.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runner/sweep/plan/draft.h"

namespace mlrun::sweep {

class TomlKeys {
 public:
  // `place`: of the table; its key is empty for the plan itself. Requires: the table and `faults` outlive this object.
  TomlKeys(const toml::table& table, Place place, Faults& faults)
      : table_(table), place_(std::move(place)), faults_(faults) {}

  // The value of a key; nullptr: the table lacks it. refuse_others() accepts all keys that were looked up.
  const toml::node* find(const std::string& key);
  [[nodiscard]] Place place_of(const std::string& key) const;
  [[nodiscard]] Place place_of(const std::string& key, const toml::node& node) const;
  void wrong_type(const std::string& key, const toml::node& node, const std::string& wanted);

  // Each leaves `value` as it is where the key is absent or wrong, and returns whether it was set.
  bool text(const std::string& key, std::string& value);
  bool flag(const std::string& key, bool& value);
  bool number(const std::string& key, int64_t least, int64_t most, int64_t& value);
  bool fraction(const std::string& key, double& value);  // 0.03 or "3 %"
  bool time(const std::string& key, uint64_t& ns);       // "30s", or a number of seconds
  bool choice(const std::string& key, const std::vector<std::string>& names, size_t& index);
  bool words(const std::string& key, Words& value);  // shell words, or an array of words
  // An array of texts, or one text; `places`: one for each text.
  bool texts(const std::string& key, std::vector<std::string>& value, std::vector<Place>* places = nullptr);

  // Calls `take` with each key and its scalar as text.
  void scalars(const std::string& key, const std::string& what,
               const std::function<void(const std::string&, std::string)>& take);

  // Reports keys that were never looked up; call it last. False: there were some. `of_plan`: keys that belong to the plan itself, which
  // the fault then says.
  bool refuse_others(const std::vector<std::string>& of_plan = {});

 private:
  bool text_of(const std::string& key, const toml::node& node, std::string& value);

  const toml::table& table_;
  Place place_;
  Faults& faults_;
  std::vector<std::string> known_;
};

// A string, a number or a truth value as a program gets it; false: something else.
bool scalar_text(const toml::node& node, std::string& text);

}  // namespace mlrun::sweep
