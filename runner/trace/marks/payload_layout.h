// SPDX-License-Identifier: Apache-2.0
// Structured payloads of NVTX: members by name out of the bytes that a mark brought, by the layout that the program has
// told of them (runner/events/record.h). Both come from the traced program and may say anything: what does not lie in
// the bytes, and what is no plain number (arrays, pointers, texts, structures within), is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::trace {

enum class PayloadForm : uint8_t { kUnsigned, kSigned, kReal };

struct PayloadMember {
  std::string name;
  PayloadForm form = PayloadForm::kUnsigned;
  size_t offset = 0, width = 0;                            // 1, 2, 4 or 8 bytes
  std::vector<std::pair<uint64_t, std::string>> meanings;  // of an enumeration
};

// A member's value; valid as long as its layout.
struct PayloadValue {
  const PayloadMember* member = nullptr;
  uint64_t bits = 0;  // of a signed one with its sign

  [[nodiscard]] int64_t number() const { return static_cast<int64_t>(bits); }
  [[nodiscard]] const std::string* meaning() const;  // of an enumeration; null: its value has no name
  [[nodiscard]] nlohmann::json json() const;         // an enumeration's name, else a number
};

class PayloadLayout {
 public:
  // Nothing: not of a structure's form, or larger than kLayoutTextMax or kLayoutMembersMax.
  static std::optional<PayloadLayout> parse(std::string_view text);

  // The members that can be told and lie wholly in `bytes`, in order.
  [[nodiscard]] std::vector<PayloadValue> values(std::string_view bytes) const;

  [[nodiscard]] const std::vector<PayloadMember>& members() const { return members_; }
  [[nodiscard]] size_t left_out() const { return left_out_; }  // members that cannot be told

 private:
  struct Told;
  void add(const Told& told);

  std::vector<PayloadMember> members_;
  size_t left_out_ = 0, count_ = 0, pack_ = 0;
  bool last_is_told_ = false;
  std::optional<size_t> cursor_ = 0;  // where a member without an offset stands; nothing: not known
};

// Null: none of that name.
[[nodiscard]] const PayloadValue* find_value(const std::vector<PayloadValue>& values, std::string_view name);

// An object; of several members of one name the last.
[[nodiscard]] nlohmann::json payload_json(std::span<const PayloadValue> values);

// How many of the first values make a text of at most so many bytes.
[[nodiscard]] size_t payload_that_fits(std::span<const PayloadValue> values, size_t bytes);

}  // namespace mlrun::trace
