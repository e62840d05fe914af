// SPDX-License-Identifier: Apache-2.0
// Structured payloads of NVTX: decodes members by name from a mark's bytes, by the layout that the program registered
// (runner/events/record.h). Both are untrusted: members outside of the bytes, and those that are not plain numbers
// (arrays, pointers, texts, nested structures), are skipped.
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
  uint64_t bits = 0;  // sign-extended if signed

  [[nodiscard]] int64_t number() const { return static_cast<int64_t>(bits); }
  [[nodiscard]] const std::string* meaning() const;  // name of an enumeration's value; nullptr: none
  [[nodiscard]] nlohmann::json json() const;         // an enumeration's name, else a number
};

class PayloadLayout {
 public:
  // nullopt: not a structure layout, or larger than kLayoutTextMax or kLayoutMembersMax.
  static std::optional<PayloadLayout> parse(std::string_view text);

  // The members that can be decoded and lie completely within `bytes`, in order.
  [[nodiscard]] std::vector<PayloadValue> values(std::string_view bytes) const;

  [[nodiscard]] const std::vector<PayloadMember>& members() const { return members_; }
  [[nodiscard]] size_t left_out() const { return left_out_; }  // members that cannot be decoded

 private:
  struct Declared;
  void add(const Declared& declared);

  std::vector<PayloadMember> members_;
  size_t left_out_ = 0, count_ = 0, pack_ = 0;
  bool last_is_kept_ = false;
  std::optional<size_t> cursor_ = 0;  // offset of a member without an explicit one; nullopt: unknown
};

// nullptr: no member has that name.
[[nodiscard]] const PayloadValue* find_value(const std::vector<PayloadValue>& values, std::string_view name);

// A JSON object; of several members with one name, the last.
[[nodiscard]] nlohmann::json payload_json(std::span<const PayloadValue> values);

// Number of leading values whose text has at most `bytes` bytes.
[[nodiscard]] size_t payload_that_fits(std::span<const PayloadValue> values, size_t bytes);

}  // namespace mlrun::trace
