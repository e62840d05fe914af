// SPDX-License-Identifier: Apache-2.0
#include "runner/view/where.h"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace mlrun::view {
namespace {

// Longer operators first, so that < does not match <=.
constexpr std::array<std::pair<std::string_view, Operator>, 8> kOperators = {{
    {"!=", Operator::kNotEqual},
    {"<=", Operator::kLessOrEqual},
    {">=", Operator::kGreaterOrEqual},
    {"==", Operator::kEqual},
    {"=", Operator::kEqual},
    {"<", Operator::kLess},
    {">", Operator::kGreater},
    {"~", Operator::kContains},
}};

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<std::vector<Comparison>> parse() {
    std::vector<Comparison> out;
    do {
      Comparison comparison;
      if (auto status = column(comparison); !status) return tl::make_unexpected(status.error());
      if (auto status = op(comparison); !status) return tl::make_unexpected(status.error());
      if (auto status = value(comparison); !status) return tl::make_unexpected(status.error());
      out.push_back(std::move(comparison));
    } while (take_and());
    if (!rest_.empty()) return wrong("expected `and`");
    return out;
  }

 private:
  tl::unexpected<Error> wrong(const std::string& what) const {
    return fail("--where: " + what + (rest_.empty() ? " at the end" : " at: " + std::string(rest_)) +
                "; write comparisons such as: func = read and dur > 1ms");
  }

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_[0])) rest_.remove_prefix(1);
  }

  Status column(Comparison& comparison) {
    skip_blanks();
    size_t length = 0;
    while (length < rest_.size() && is_name(rest_[length])) ++length;
    if (length == 0) return wrong("expected the name of a column");
    comparison.column = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return {};
  }

  Status op(Comparison& comparison) {
    skip_blanks();
    for (const auto& [text, op] : kOperators) {
      if (!rest_.starts_with(text)) continue;
      comparison.op = op;
      rest_.remove_prefix(text.size());
      return {};
    }
    return wrong("expected one of = != < <= > >= ~");
  }

  Status value(Comparison& comparison) {
    skip_blanks();
    if (!rest_.empty() && (rest_[0] == '\'' || rest_[0] == '"')) {
      const size_t end = rest_.find(rest_[0], 1);
      if (end == std::string_view::npos) return wrong("the quotation is not closed");
      comparison.value = rest_.substr(1, end - 1);
      comparison.quoted = true;
      rest_.remove_prefix(end + 1);
      return {};
    }
    size_t length = rest_.empty() ? 0 : 1;  // a value may be the word `and`
    while (length < rest_.size() && !and_at(length)) ++length;
    std::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    if (text.empty()) return wrong("expected a value");
    if (text.find(" or ") != std::string_view::npos) {
      return fail(
          "--where: `or` is not known, only `and` joins comparisons; if `or` is part of the value, quote the "
          "value: '" +
          std::string(text) + "'");
    }
    comparison.value = text;
    return {};
  }

  // Is the next word `and`?
  [[nodiscard]] bool and_at(size_t at) const {
    const std::string_view text = rest_.substr(at);
    const bool begins = at == 0 || is_blank(rest_[at - 1]);
    return begins && text.starts_with("and") && (text.size() == 3 || is_blank(text[3]));
  }

  bool take_and() {
    skip_blanks();
    if (!and_at(0)) return false;
    rest_.remove_prefix(3);
    return true;
  }

  std::string_view rest_;
};

}  // namespace

Result<std::vector<Comparison>> parse_where(const std::string& text) { return Parser(text).parse(); }

}  // namespace mlrun::view
