// SPDX-License-Identifier: Apache-2.0
// The members of a small JSON object, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mlrun::exchange {

struct JsonMember {
  enum class Kind : uint8_t { kNumber, kText, kOther };
  std::string_view key;
  Kind kind = Kind::kOther;
  std::string_view text;  // numbers and other values as written, texts unescaped
  std::string_view raw;   // as written
};

class JsonMembers {
 public:
  JsonMembers();
  ~JsonMembers();
  JsonMembers(const JsonMembers&) = delete;
  JsonMembers& operator=(const JsonMembers&) = delete;

  using See = std::function<void(const JsonMember& member)>;
  // False: `object` is no JSON object, or is damaged after the members that were visited.
  bool visit(std::string_view object, const See& see);
  // The same without a copy. Requires: 64 bytes behind `object` can be read, as for the texts of a ChromeEvent.
  bool visit_padded(std::string_view object, const See& see);
  // Visits the values of an array, with empty keys.
  bool visit_array(std::string_view array, const See& see);

 private:
  struct State;
  bool visit_plain(std::string_view object, const See& see);
  bool visit_members(const See& see);
  std::unique_ptr<State> state_;
};

// A text in quotes.
[[nodiscard]] std::string quoted_json(std::string_view text);

// A whole number of decimal digits, or a floating point one without a fraction; `none` if it is neither.
[[nodiscard]] int64_t json_integer(std::string_view text, int64_t none = 0);

}  // namespace mlrun::exchange
