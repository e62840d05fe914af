// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/payload_layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <nlohmann/json.hpp>

#include "runner/decode/limits.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

// NVTX's numbers.
constexpr uint64_t kStaticSchema = 1, kDynamicSchema = 2;
constexpr uint64_t kPointer = 1 << 1, kOffsets = 3 << 2, kArray = 7 << 4, kFixedArray = 1 << 4;
constexpr uint64_t kFirstText = 75, kLastText = 78, kFirstOwnType = uint64_t{1} << 24;
constexpr size_t kEndMax = size_t{1} << 20;  // nothing that is recorded extends this far

constexpr size_t kPointerBytes = 8;
constexpr size_t kWide = 16;  // members of this size are skipped, not decoded

struct Type {
  uint8_t number;
  uint8_t width;
  PayloadForm form;
  bool is_read = true;
};
constexpr auto kU = PayloadForm::kUnsigned, kS = PayloadForm::kSigned, kR = PayloadForm::kReal;
// Sizes on x86-64.
constexpr std::array<Type, 45> kTypes = {{
    {1, 1, kS},
    {2, 1, kU},
    {3, 2, kS},
    {4, 2, kU},
    {5, 4, kS},
    {6, 4, kU},
    {7, 8, kS},
    {8, 8, kU},
    {9, 8, kS},
    {10, 8, kU},
    {11, 1, kS},
    {12, 1, kU},
    {13, 2, kS},
    {14, 2, kU},
    {15, 4, kS},
    {16, 4, kU},
    {17, 8, kS},
    {18, 8, kU},
    {19, 4, kR},
    {20, 8, kR},
    {21, kWide, kR, false},
    {22, 8, kU},
    {23, 8, kU},
    {24, 4, kU},
    {25, 1, kU},
    {26, 2, kU},
    {27, 4, kU},
    {32, 1, kU},
    {33, kWide, kS, false},
    {34, kWide, kU, false},
    {42, 2, kR, false},
    {43, 4, kR},
    {44, 8, kR},
    {45, kWide, kR, false},
    {50, 2, kR, false},
    {52, 4, kR, false},
    {67, 8, kU},
    {68, 4, kU},
    {69, 4, kU},
    {70, 8, kU},
    {71, 4, kU},
    {72, 8, kU},
    {73, 4, kU},
    {74, 8, kU},
    {80, 8, kU, false},
}};

const Type* find_type(uint64_t number) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const Type& type) { return type.width != 0 && type.number == number; });
  return found == kTypes.end() ? nullptr : &*found;
}

bool is_width(uint64_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Removes a number and the space after it.
bool take_number(std::string_view& line, uint64_t& number) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  if (!line.empty() && line.front() != ' ') return false;
  if (!line.empty()) line.remove_prefix(1);
  return true;
}

bool take_numbers(std::string_view& line, auto&... numbers) { return (take_number(line, numbers) && ...); }

}  // namespace

// A member as in the layout's text.
struct PayloadLayout::Declared {
  uint64_t flags = 0, type = 0, detail = 0, offset = 0, enum_bytes = 0;
  std::string_view name;

  struct Shape {
    std::optional<size_t> width;  // nullopt: unknown, so the offset of the next member is unknown too
    size_t alignment = 1;
    std::optional<PayloadForm> form;  // nullopt: skipped
  };
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] Shape element() const;
};

PayloadLayout::Declared::Shape PayloadLayout::Declared::element() const {
  if (type >= kFirstOwnType) {
    if (!is_width(enum_bytes)) return {};
    return {enum_bytes, enum_bytes, PayloadForm::kUnsigned};
  }
  if (type >= kFirstText && type <= kLastText) {
    if (detail == 0) return {kPointerBytes, kPointerBytes, {}};
    const size_t unit = type <= kFirstText + 1 ? 1 : type == kLastText ? 4 : 2;
    return detail <= kEndMax ? Shape{detail * unit, unit, {}} : Shape{};
  }
  const Type* known = find_type(type);
  if (!known) return {};
  return {known->width, known->width, known->is_read ? std::optional(known->form) : std::nullopt};
}

PayloadLayout::Declared::Shape PayloadLayout::Declared::shape() const {
  if ((flags & kPointer) != 0) return {kPointerBytes, kPointerBytes, {}};
  Shape one = element();
  if ((flags & kArray) == 0 && (flags & kOffsets) == 0) return one;
  one.form.reset();
  const bool has_length = (flags & kArray) == kFixedArray && (flags & kOffsets) == 0 && detail <= kEndMax;
  if (has_length && one.width) return {*one.width * detail, one.alignment, {}};
  return {{}, one.alignment, {}};
}

std::optional<PayloadLayout> PayloadLayout::parse(std::string_view text) {
  if (text.size() > decode::kLayoutTextMax) return {};
  uint64_t type = 0, size = 0, pack = 0;
  std::string_view line = take_line(text);
  if (!take_numbers(line, type, size, pack) || (type != kStaticSchema && type != kDynamicSchema)) return {};
  PayloadLayout layout;
  layout.pack_ = pack;
  while (!text.empty()) {
    line = take_line(text);
    const bool is_member = line.starts_with("F ");
    if (!is_member && !line.starts_with("V ")) return {};
    line.remove_prefix(2);
    if (is_member) {
      Declared declared;
      if (!take_numbers(line, declared.flags, declared.type, declared.detail, declared.offset, declared.enum_bytes))
        return {};
      declared.name = line;
      if (layout.count_ >= decode::kLayoutMembersMax) return {};
      layout.add(declared);
    } else {
      uint64_t value = 0;
      if (!take_number(line, value)) return {};
      if (layout.last_is_kept_) layout.members_.back().meanings.emplace_back(value, util::escaped_utf8(line));
    }
  }
  return layout;
}

// The first member's offset is explicit; for the others 0 means "after the previous one".
void PayloadLayout::add(const Declared& declared) {
  const Declared::Shape shape = declared.shape();
  std::optional<size_t> at = cursor_;
  if (at) {
    const size_t alignment = std::max<size_t>(1, pack_ == 0 ? shape.alignment : std::min(shape.alignment, pack_));
    at = (*at + alignment - 1) / alignment * alignment;
  }
  if (count_ == 0 || declared.offset != 0) at = declared.offset;
  ++count_;
  const bool is_placed = at && *at <= kEndMax && shape.width && *shape.width <= kEndMax;
  cursor_ = is_placed ? std::optional(*at + *shape.width) : std::nullopt;
  last_is_kept_ = is_placed && shape.form;
  if (!last_is_kept_) {
    ++left_out_;
    return;
  }
  PayloadMember& member = members_.emplace_back();
  member.name = declared.name.empty() ? "#" + std::to_string(count_) : util::escaped_utf8(declared.name);
  member.form = *shape.form;
  member.offset = *at;
  member.width = *shape.width;
}

std::vector<PayloadValue> PayloadLayout::values(std::string_view bytes) const {
  std::vector<PayloadValue> found;
  for (const PayloadMember& member : members_) {
    if (member.offset > bytes.size() || member.width > bytes.size() - member.offset) continue;
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + member.offset, member.width);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(member.width);
    if (member.form == PayloadForm::kSigned)
      bits = static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
    found.push_back({&member, bits});
  }
  return found;
}

// nullptr: the value has no name.
const std::string* PayloadValue::meaning() const {
  const auto& all = member->meanings;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == bits; });
  return found == all.end() ? nullptr : &found->second;
}

nlohmann::json PayloadValue::json() const {
  if (const std::string* name = meaning()) return *name;
  if (member->form == PayloadForm::kUnsigned) return bits;
  if (member->form == PayloadForm::kSigned) return number();
  if (member->width == sizeof(float)) {
    float single = 0;
    std::memcpy(&single, &bits, sizeof single);
    return single;
  }
  double real = 0;
  std::memcpy(&real, &bits, sizeof real);
  return real;
}

const PayloadValue* find_value(const std::vector<PayloadValue>& values, std::string_view name) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const PayloadValue& value) { return value.member->name == name; });
  return found == values.end() ? nullptr : &*found;
}

nlohmann::json payload_json(std::span<const PayloadValue> values) {
  nlohmann::json object = nlohmann::json::object();
  for (const PayloadValue& value : values) object[value.member->name] = value.json();
  return object;
}

size_t payload_that_fits(std::span<const PayloadValue> values, size_t bytes) {
  constexpr size_t kBraces = 2, kNumber = 25, kQuotesColonComma = 6, kEscaped = 6;
  const auto room_of = [](const std::string& text) {
    size_t room = 0;
    for (const char c : text) room += static_cast<unsigned char>(c) < ' ' ? kEscaped : c == '"' || c == '\\' ? 2 : 1;
    return room;
  };
  size_t needed = kBraces, fit = 0;
  for (; fit < values.size(); ++fit) {
    const std::string* meaning = values[fit].meaning();
    needed += room_of(values[fit].member->name) + (meaning ? room_of(*meaning) : kNumber) + kQuotesColonComma;
    if (needed > bytes) break;
  }
  return fit;
}

}  // namespace mlrun::trace
