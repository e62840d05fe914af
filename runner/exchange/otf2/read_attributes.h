// SPDX-License-Identifier: Apache-2.0
// Attributes of an event of an OTF2 archive, by their names.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mlrun::exchange {

class Otf2Attributes {
 public:
  using Texts = std::unordered_map<OTF2_StringRef, std::string>;
  // `texts`: strings of the archive, by their numbers.
  explicit Otf2Attributes(const Texts& texts) : texts_(texts) {}

  void define(OTF2_AttributeRef self, OTF2_StringRef name) { names_[self] = name; }

  // Reads the attributes of an event, in place of those of the previous event.
  void read(const OTF2_AttributeList* list);
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::optional<int64_t> number(std::string_view name) const;
  // Empty: there is none of this name.
  [[nodiscard]] std::string_view text(std::string_view name) const;
  // All attributes but `without` as members of a JSON object, without braces. References to other definitions are their numbers.
  [[nodiscard]] std::string members(std::string_view without) const;

 private:
  struct Value {
    OTF2_AttributeRef attribute = 0;
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value = {};
  };
  [[nodiscard]] std::string_view text_of(OTF2_StringRef ref) const;
  [[nodiscard]] std::string_view name_of(const Value& value) const;
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] std::string json(const Value& value) const;

  const Texts& texts_;
  std::unordered_map<OTF2_AttributeRef, OTF2_StringRef> names_;
  std::vector<Value> values_;
};

}  // namespace mlrun::exchange
