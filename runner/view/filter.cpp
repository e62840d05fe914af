// SPDX-License-Identifier: Apache-2.0
#include "runner/view/filter.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "runner/summary/names.h"
#include "runner/util/text.h"
#include "runner/view/known_names.h"

namespace mlrun::view {
namespace {

// 0: unknown unit.
double unit_bytes(std::string_view unit) {
  const size_t power = unit.size() == 1 ? std::string_view("KMGT").find(unit[0]) : std::string_view::npos;
  return power == std::string_view::npos ? 0 : std::ldexp(1, 10 * static_cast<int>(power + 1));
}

tl::unexpected<Error> wrong(const Comparison& comparison, const std::string& expected) {
  return fail("--where: column '" + comparison.column + "' cannot be compared with '" + comparison.value +
              "'; it needs " + expected);
}

// Reads integers exactly, in decimal or 0x; other numbers as double.
Result<int64_t> read_number(const Comparison& comparison, Meaning meaning, int64_t origin_ns) {
  const bool is_time = meaning == Meaning::kMoment || meaning == Meaning::kDuration;
  const char* expected = is_time ? "a time such as 1.5ms" : "a number such as 4096, 0x1000 or 4K";
  const char* text = comparison.value.c_str();
  char* end = nullptr;
  errno = 0;
  const int64_t whole = std::strtoll(text, &end, 0);
  if (end != text && *end == '\0' && errno == 0 && (meaning != Meaning::kMoment || origin_ns == 0)) return whole;
  const double value = std::strtod(text, &end);
  if (end == text) return wrong(comparison, expected);
  std::string_view name = end;
  while (name.starts_with(' ')) name.remove_prefix(1);
  if (name.empty() && meaning == Meaning::kMoment && origin_ns != 0) name = "s";
  if (!is_time && (name.ends_with("iB") || name.ends_with('B'))) name.remove_suffix(name.ends_with("iB") ? 2 : 1);
  const double by = name.empty() ? 1 : is_time ? double(util::unit_ns(name)) : unit_bytes(name);
  if (by == 0 || !std::isfinite(value) || std::abs(value * by) > 9e18) return wrong(comparison, expected);
  const auto number = int64_t(std::llround(value * by));
  return meaning == Meaning::kMoment ? number + origin_ns : number;
}

template <typename T>
bool holds(Operator op, const T& left, const T& right) {
  switch (op) {
    case Operator::kEqual: return left == right;
    case Operator::kNotEqual: return left != right;
    case Operator::kLess: return left < right;
    case Operator::kLessOrEqual: return left <= right;
    case Operator::kGreater: return left > right;
    case Operator::kGreaterOrEqual: return left >= right;
    case Operator::kContains: return false;
  }
  return false;
}

bool is_order(Operator op) { return op != Operator::kEqual && op != Operator::kNotEqual && op != Operator::kContains; }

}  // namespace

Result<Filter> Filter::make(const std::vector<Comparison>& comparisons, int64_t origin_ns, TableColumns& columns) {
  Filter filter;
  for (const Comparison& comparison : comparisons) {
    const auto place = columns.use(comparison.column);
    if (!place) return of_option("--where: ", place.error());
    auto test = make_test(comparison, origin_ns, columns.columns()[*place]);
    if (!test) return tl::make_unexpected(test.error());
    test->column = *place;
    filter.tests_.push_back(*std::move(test));
  }
  return filter;
}

Result<Filter::Test> Filter::make_test(const Comparison& comparison, int64_t origin_ns, const Column& column) {
  Test test;
  test.name = column.name();
  test.op = comparison.op;
  test.text = comparison.value;
  test.null = !comparison.quoted && comparison.value == "null";
  if (test.null) {
    if (is_order(test.op) || test.op == Operator::kContains) return wrong(comparison, "= null or != null");
    return test;
  }
  if (column.type() != Column::Type::kText && test.op == Operator::kContains)
    return wrong(comparison, "another operator: ~ is for text");
  switch (column.type()) {
    case Column::Type::kText:
      if (is_order(test.op)) return wrong(comparison, "= != or ~: it is text");
      return test;
    case Column::Type::kBoolean:
      if (is_order(test.op) || (test.text != "true" && test.text != "false"))
        return wrong(comparison, "= true or = false");
      test.boolean = test.text == "true";
      return test;
    case Column::Type::kReal: {
      char* end = nullptr;
      test.real = std::strtod(test.text.c_str(), &end);
      if (end == test.text.c_str() || *end != '\0') return wrong(comparison, "a number");
      return test;
    }
    case Column::Type::kNumber: break;
  }
  if (const int32_t err = summary::errno_number(test.text); err != 0 && column.name() == "err") {
    test.number = err;
    return test;
  }
  const auto number = read_number(comparison, column.meaning(), origin_ns);
  if (!number) return tl::make_unexpected(number.error());
  test.number = *number;
  return test;
}

bool Filter::passes(const Test& test, const Column& column, int64_t row) {
  const bool null = column.is_null(row);
  if (null || test.null)
    return test.op == Operator::kNotEqual ? null != test.null : null == test.null && test.op == Operator::kEqual;
  switch (column.type()) {
    case Column::Type::kNumber: return holds(test.op, column.number(row), test.number);
    case Column::Type::kReal: return holds(test.op, column.real(row), test.real);
    case Column::Type::kBoolean: return holds(test.op, column.boolean(row), test.boolean);
    case Column::Type::kText: break;
  }
  const std::string_view text = column.text(row);
  return test.op == Operator::kContains ? text.find(test.text) != std::string_view::npos
                                        : holds(test.op, text, std::string_view(test.text));
}

// Caches results by id, since there are far fewer names than rows.
bool Filter::passes_by_id(const Test& test, const Column& column, int64_t row) {
  constexpr int64_t kMostIds = int64_t{1} << 26;
  const int64_t id = column.has_id(row) ? column.number(row) : -1;
  if (id < 0 || id >= kMostIds) return passes(test, column, row);
  if (size_t(id) >= test.by_id.size()) test.by_id.resize(size_t(id) + 1);
  int8_t& known = test.by_id[size_t(id)];
  if (known == 0) known = passes(test, column, row) ? 1 : -1;
  return known > 0;
}

bool Filter::matches(const TableColumns& columns, int64_t row) const {
  return std::all_of(tests_.begin(), tests_.end(), [&](const Test& test) {
    const Column& column = columns.columns()[test.column];
    return column.names() ? passes_by_id(test, column, row) : passes(test, column, row);
  });
}

void Filter::narrow(tables::TableQuery& query) const {
  for (const Test& test : tests_) {
    if (test.name != "ts" || test.null) continue;
    const bool least =
        test.op == Operator::kGreater || test.op == Operator::kGreaterOrEqual || test.op == Operator::kEqual;
    const bool most = test.op == Operator::kLess || test.op == Operator::kLessOrEqual || test.op == Operator::kEqual;
    if (least) query.from_ns = std::max(query.from_ns, test.number);
    if (most) query.to_ns = std::min(query.to_ns, test.number);
  }
}

}  // namespace mlrun::view
