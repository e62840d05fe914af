// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/chrome_event.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <simdjson.h>

#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "runner/exchange/import/decimal_time.h"
#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/plain_json.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

namespace sj = simdjson;

constexpr int kDigitsOfMicrosecond = 3;

// A value of an event, read by simdjson or as plain JSON. False: it is no JSON, or not plain.
// - raw(): the value as it is written.
// - scalar(): the content of a text; any other value as it is written. `written`: the value as it is written, also of a text.
struct SoundValue {
  sj::ondemand::value value;

  bool raw(std::string_view& text) {
    if (sj::to_json_string(value).get(text) != sj::SUCCESS) return false;
    text = util::trimmed(text);
    return true;
  }
  bool scalar(std::string_view& text, std::string_view& written) {
    written = util::trimmed(value.raw_json_token());
    switch (written.empty() ? '\0' : written.front()) {
      case '"': return value.get_string().get(text) == sj::SUCCESS;
      case '{':
      case '[':
        if (!raw(text)) return false;
        written = text;
        return true;
      default: text = written; return true;
    }
  }
};

struct PlainValue {
  PlainJson& json;

  bool raw(std::string_view& text) {
    std::string_view inner;
    return scalar(inner, text);
  }
  bool scalar(std::string_view& text, std::string_view& written) {
    switch (json.peek()) {
      case '"':
        if (!json.text(text)) return false;
        written = {text.data() - 1, text.size() + 2};
        return true;
      case '{':
      case '[':
        if (!json.nested(text)) return false;
        break;
      default:
        if (!json.word(text)) return false;
    }
    written = text;
    return true;
  }
};

// The same as ==, but without the call of memcmp() that == makes even for a few bytes.
template <size_t kSize>
bool is_word(std::string_view text, const char (&word)[kSize]) {
  return text.size() == kSize - 1 && __builtin_memcmp(text.data(), word, kSize - 1) == 0;
}

// The field of ChromeEvent for a member that is a text or number; nullptr: none.
std::string_view ChromeEvent::*place_of(std::string_view key) {
  switch (key.size()) {
    case 1: return is_word(key, "s") ? &ChromeEvent::instant_scope : nullptr;
    case 2:
      return is_word(key, "id")   ? &ChromeEvent::id
             : is_word(key, "bp") ? &ChromeEvent::binding
             : is_word(key, "sf") ? &ChromeEvent::stack_frame
                                  : nullptr;
    case 3:
      return is_word(key, "pid")   ? &ChromeEvent::pid
             : is_word(key, "tid") ? &ChromeEvent::tid
             : is_word(key, "cat") ? &ChromeEvent::category
                                   : nullptr;
    case 4: return is_word(key, "name") ? &ChromeEvent::name : nullptr;
    case 5: return is_word(key, "scope") ? &ChromeEvent::scope : nullptr;
    case 6: return is_word(key, "weight") ? &ChromeEvent::weight : nullptr;
    default: return nullptr;
  }
}

// `ids`: {"local": ID} or {"global": ID}.
void take_id2(std::string_view ids, ChromeEvent& event) {
  for (const std::string_view which : {"local", "global"}) {
    const size_t at = ids.find("\"" + std::string(which) + "\"");
    if (at == std::string_view::npos) continue;
    std::string_view rest = ids.substr(at + which.size() + 2);
    const size_t from = rest.find_first_not_of(": \t\n\r");
    if (from == std::string_view::npos) continue;
    rest = rest.substr(from);
    if (rest.starts_with('"')) rest.remove_prefix(1);
    event.id = rest.substr(0, rest.find_first_of("\",} \t\n\r"));
    event.id_is_local = which == "local";
  }
}

// Stores a member in the event. False: the value is no JSON, or not plain, as for SoundValue.
template <typename Value>
bool take_member(std::string_view key, Value value, ChromeEvent& event) {
  std::string_view text, written;
  if (const auto place = place_of(key)) return value.scalar(event.*place, written);
  if (is_word(key, "ph")) {
    if (!value.scalar(text, written)) return false;
    event.phase = text.size() == 1 ? text.front() : '\0';
    return true;
  }
  if (is_word(key, "ts")) {
    if (!value.scalar(text, written)) return false;
    event.ts_ns = decimal_ns(text, kDigitsOfMicrosecond);
    event.has_ts = true;
    return true;
  }
  if (is_word(key, "args")) return value.raw(event.args);
  if (is_word(key, "dur")) {
    if (!value.scalar(text, written)) return false;
    event.dur_ns = decimal_ns(text, kDigitsOfMicrosecond);
    if (!event.dur_ns) add_json_member(event.other, key, written);
    return true;
  }
  if (is_word(key, "stack")) return value.raw(event.stack);
  if (is_word(key, "bind_id")) return value.raw(event.bind_id);
  if (is_word(key, "flow_in")) return value.raw(event.flow_in);
  if (is_word(key, "flow_out")) return value.raw(event.flow_out);
  if (!value.raw(text)) return false;
  if (is_word(key, "id2")) {
    take_id2(text, event);
  } else {
    add_json_member(event.other, key, text);
  }
  return true;
}

// Whether the text may have a number that JSON lacks, such as NaN or -Infinity, which Python writes.
bool may_have_odd_number(std::string_view text) {
  const auto is_odd = [&](size_t i) {
    if (i == 0 || i + 3 > text.size()) return false;
    switch (text[i - 1]) {
      case ':':
      case ',':
      case '[':
      case ' ':
      case '-':
      case '\n':
      case '\t': break;
      default: return false;  // within a word, mostly
    }
    const std::string_view three = text.substr(i, 3);
    return three == "NaN" || three == "nan" || three == "Inf" || three == "inf";
  };
  size_t i = 0;
#ifdef __SSE2__
  for (; i + 18 <= text.size(); i += 16) {
    const auto lower = [&](size_t at) {
      return _mm_or_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at)), _mm_set1_epi8(0x20));
    };
    const __m128i first = lower(i), third = lower(i + 2);
    const auto both = [&](char one, char two) {
      return _mm_and_si128(_mm_cmpeq_epi8(first, _mm_set1_epi8(one)), _mm_cmpeq_epi8(third, _mm_set1_epi8(two)));
    };
    auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(both('n', 'n'), both('i', 'f'))));
    for (; found != 0; found &= found - 1) {
      if (is_odd(i + static_cast<size_t>(std::countr_zero(found)))) return true;
    }
  }
#endif
  for (; i < text.size(); ++i) {
    if (is_odd(i)) return true;
  }
  return false;
}

// Mends JSON of programs that write it without a JSON library, as far as the faults are known here.
class Mender {
 public:
  Mender(std::string_view text, bool escapes_quotes) : text_(text), escapes_quotes_(escapes_quotes) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (text_[at_] == '"') {
        quoted();
      } else if (is_of_word(text_[at_])) {
        word();
      } else {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  static bool is_of_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
           c == '.' || c == '_';
  }
  // Copies a number, true, false or null; other words, such as NaN, None or 0x1f, become texts.
  void word() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_of_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const size_t digit = word.front() == '-' ? 1 : 0;
    const bool is_number = digit < word.size() && word[digit] >= '0' && word[digit] <= '9' &&
                           word.find_first_not_of("0123456789+-.eE", digit) == std::string_view::npos;
    const bool is_sound = is_number || word == "true" || word == "false" || word == "null";
    if (!is_sound) out_ += '"';
    out_ += word;
    if (!is_sound) out_ += '"';
  }
  void quoted() {
    out_ += text_[at_++];
    while (at_ < text_.size()) {
      const char byte = text_[at_];
      if (byte == '\\') {
        escape();
      } else if (static_cast<unsigned char>(byte) < 0x20) {
        constexpr char kHex[] = "0123456789abcdef";
        out_ += "\\u00";
        out_ += kHex[byte >> 4 & 0xf];
        out_ += kHex[byte & 0xf];
        ++at_;
      } else {
        const bool is_end = byte == '"' && ends_text();
        if (byte == '"' && !is_end) out_ += '\\';
        out_ += byte;
        ++at_;
        if (is_end) return;
      }
    }
  }
  [[nodiscard]] bool ends_text() const {
    if (!escapes_quotes_) return true;
    const size_t next = text_.find_first_not_of(" \n\r\t", at_ + 1);
    return next == std::string::npos || std::string_view(",:}]").find(text_[next]) != std::string_view::npos;
  }
  // The value of the escape "\uXXXX" at `at`; nothing if there is none.
  [[nodiscard]] std::optional<unsigned> unit_at(size_t at) const {
    if (at + 6 > text_.size() || text_[at] != '\\' || text_[at + 1] != 'u') return std::nullopt;
    unsigned unit = 0;
    const auto [end, error] = std::from_chars(text_.data() + at + 2, text_.data() + at + 6, unit, 16);
    return error == std::errc() && end == text_.data() + at + 6 ? std::optional(unit) : std::nullopt;
  }
  void escape() {
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (next != 'u') {
      // A backslash that escapes nothing, as in a path of Windows or in the \xNN of escaped_utf8(), is kept as a backslash.
      const bool is_known = next != '\0' && std::string_view("\"\\/bfnrt").find(next) != std::string_view::npos;
      out_ += is_known ? "\\" : "\\\\";
      ++at_;
      if (is_known) out_ += text_[at_++];
      return;
    }
    const auto unit = unit_at(at_), low = unit_at(at_ + 6);
    const bool is_pair = unit && *unit >= 0xd800 && *unit < 0xdc00 && low && *low >= 0xdc00 && *low < 0xe000;
    if (!unit) {
      out_ += "\\\\";
      ++at_;
    } else if (*unit >= 0xdc80 && *unit <= 0xdcff) {
      // Python's escape for a byte of a name that is not UTF-8.
      out_ += fmt::format("\\\\x{:02x}", *unit - 0xdc00);
      at_ += 6;
    } else if (*unit >= 0xd800 && *unit < 0xe000 && !is_pair) {
      out_ += "\\ufffd";
      at_ += 6;
    } else {
      const size_t size = is_pair ? 12 : 6;
      out_ += text_.substr(at_, size);
      at_ += size;
    }
  }

  std::string_view text_;
  const bool escapes_quotes_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

struct ChromeEventParser::State {
  sj::ondemand::parser parser;
  sj::ondemand::document document;
};

ChromeEventParser::ChromeEventParser() : state_(std::make_unique<State>()) {}
ChromeEventParser::~ChromeEventParser() = default;

void add_json_member(std::string& members, std::string_view key, std::string_view value) {
  if (!members.empty()) members += ',';
  members.append(quoted_json(key)).append(":").append(value);
}

std::string mended_json(std::string_view text, bool escapes_quotes) {
  const std::string valid = util::is_utf8(text) ? std::string(text) : util::escaped_utf8(text);
  return Mender(valid, escapes_quotes).run();
}

bool ChromeEventParser::parse_sound(std::string_view element, ChromeEvent& event, bool& is_empty) {
  const auto failed = [&](sj::error_code error) {
    problem_ = sj::error_message(error);
    return false;
  };
  const auto begun = state_->parser.iterate(element.data(), element.size(), element.size() + sj::SIMDJSON_PADDING)
                         .get(state_->document);
  if (begun != sj::SUCCESS) return failed(begun);
  sj::ondemand::object object;
  if (const auto error = state_->document.get_object().get(object); error != sj::SUCCESS) return failed(error);
  is_empty = true;
  for (auto field : object) {
    if (field.error() != sj::SUCCESS) return failed(field.error());
    is_empty = false;
    std::string_view key;
    sj::ondemand::value value;
    if (const auto error = field.unescaped_key().get(key); error != sj::SUCCESS) return failed(error);
    if (const auto error = field.value().get(value); error != sj::SUCCESS) return failed(error);
    if (!take_member(key, SoundValue{value}, event)) {
      problem_ = "a value that is not JSON";
      return false;
    }
  }
  return true;
}

size_t ChromeEventParser::parse_plain(std::string_view bytes, ChromeEvent& event) {
  event = {};
  PlainJson json(bytes);
  if (!json.take('{')) return 0;
  do {
    std::string_view key;
    if (json.peek() != '"' || !json.text(key) || !json.take(':')) return 0;
    if (!take_member(key, PlainValue{json}, event)) return 0;
  } while (json.take(','));
  return json.take('}') ? json.used() : 0;
}

ChromeEventParser::Outcome ChromeEventParser::parse(std::string_view element, ChromeEvent& event) {
  event = {};
  if (element.empty() || element.front() != '{') return Outcome::kNoObject;
  bool is_empty = false;
  if (!may_have_odd_number(element) && parse_sound(element, event, is_empty))
    return is_empty ? Outcome::kEmpty : Outcome::kEvent;
  for (const bool escapes_quotes : {false, true}) {
    mended_ = mended_json(element, escapes_quotes);
    mended_.reserve(mended_.size() + sj::SIMDJSON_PADDING);
    event = {};
    if (parse_sound(mended_, event, is_empty)) return Outcome::kMended;
  }
  return Outcome::kBad;
}

}  // namespace mlrun::exchange
