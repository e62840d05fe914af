// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/json_splitter.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>

#include <fmt/format.h>

namespace mlrun::exchange {

namespace {

// Finds the end of an object, array or text that begins at the first byte; can be resumed when there are more bytes.
class ValueEnd {
 public:
  enum class Found : uint8_t { kEnd, kMore, kTooDeep };

  Found search(std::string_view bytes) {
    size_t i = at_;
#ifdef __SSE2__
    for (; i + 16 <= bytes.size(); i += 16) {
      const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + i));
      const __m128i lower = _mm_or_si128(block, _mm_set1_epi8(0x20));  // { and [ become one, as do } and ]
      const __m128i quote =
          _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')), _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
      const __m128i bracket =
          _mm_or_si128(_mm_cmpeq_epi8(lower, _mm_set1_epi8('{')), _mm_cmpeq_epi8(lower, _mm_set1_epi8('}')));
      auto marks = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(quote, bracket)));
      for (; marks != 0; marks &= marks - 1) {
        const Found found = see(bytes, i + static_cast<size_t>(std::countr_zero(marks)));
        if (found != Found::kMore) return found;
      }
    }
#endif
    for (; i < bytes.size(); ++i) {
      const Found found = see(bytes, i);
      if (found != Found::kMore) return found;
    }
    at_ = i;
    return Found::kMore;
  }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  Found see(std::string_view bytes, size_t i) {
    const char byte = bytes[i];
    if (is_text_) {
      if (i == escaped_) return Found::kMore;
      if (byte == '\\') escaped_ = i + 1;
      if (byte != '"') return Found::kMore;
      is_text_ = false;
      return depth_ == 0 ? end(i) : Found::kMore;
    }
    switch (byte) {
      case '"': is_text_ = true; return Found::kMore;
      case '{':
      case '[': return ++depth_ > kDepthMax ? Found::kTooDeep : Found::kMore;
      case '}':
      case ']': return --depth_ <= 0 ? end(i) : Found::kMore;
      default: return Found::kMore;
    }
  }
  Found end(size_t i) {
    size_ = i + 1;
    return Found::kEnd;
  }

  size_t at_ = 0, size_ = 0;
  size_t escaped_ = SIZE_MAX;  // the byte after a backslash
  int depth_ = 0;
  bool is_text_ = false;
};

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

}  // namespace

tl::unexpected<Error> JsonSplitter::bad(const std::string& what) const {
  return bad_input(path_, what, window_.offset());
}

Result<int> JsonSplitter::peek() {
  for (;;) {
    const std::string_view bytes = window_.bytes();
    size_t i = 0;
    while (i < bytes.size() && is_space(bytes[i])) ++i;
    window_.consume(i);
    if (i < bytes.size()) return static_cast<unsigned char>(bytes[i]);
    const auto more = window_.grow();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return -1;
  }
}

// The value that begins here, not consumed; empty if the file ends within it. Requires: peek() has found a byte.
Result<std::string_view> JsonSplitter::value(size_t limit) {
  const char first = window_.bytes().front();
  const bool is_scalar = first != '{' && first != '[' && first != '"';
  // Numbers, true, false, null; NaN and Infinity, as Python writes them.
  if (is_scalar && std::string_view("-0123456789tfnNI").find(first) == std::string_view::npos) {
    return bad(fmt::format("no JSON value but byte 0x{:02x}", static_cast<unsigned char>(first)));
  }
  ValueEnd end;
  for (;;) {
    const std::string_view bytes = window_.bytes();
    if (is_scalar) {
      const size_t size = bytes.find_first_of(",}] \n\r\t");
      if (size != std::string_view::npos) return bytes.substr(0, size);
    } else {
      switch (end.search(bytes)) {
        case ValueEnd::Found::kEnd: return bytes.substr(0, end.size());
        case ValueEnd::Found::kTooDeep: return bad(fmt::format("a value that is nested more than {} deep", kDepthMax));
        case ValueEnd::Found::kMore: break;
      }
    }
    if (bytes.size() > limit) return bad("a value of more than 64 MiB");
    const auto more = window_.grow();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return is_scalar ? bytes : std::string_view();
  }
}

Status JsonSplitter::elements(const Visitor& visitor, bool has_end) {
  for (;;) {
    const auto next = peek();
    if (!next) return tl::make_unexpected(next.error());
    if (*next == -1) {
      is_cut_ = has_end;
      return {};
    }
    if (*next == ',') {
      window_.consume(1);
      continue;
    }
    if (*next == ']' && has_end) {
      window_.consume(1);
      return {};
    }
    const auto found = value(kEventBytesMax);
    if (!found) return tl::make_unexpected(found.error());
    if (found->empty()) {
      is_cut_ = has_partial_ = true;
      return {};
    }
    const size_t size = found->size();
    if (Status seen = visitor.element(*found, window_.offset()); !seen) return seen;
    window_.consume(size);
    if (visitor.progress) visitor.progress(input_.file_at());
  }
}

Status JsonSplitter::members(const Visitor& visitor) {
  window_.consume(1);
  for (;;) {
    auto next = peek();
    if (!next) return tl::make_unexpected(next.error());
    if (*next == ',') {
      window_.consume(1);
      continue;
    }
    if (*next == '}') {
      window_.consume(1);
      return {};
    }
    if (*next == -1) {
      is_cut_ = true;
      return {};
    }
    if (*next != '"') return bad(fmt::format("a name of a member expected, '{}' found", static_cast<char>(*next)));
    const auto quoted = value(kMemberMax);
    if (!quoted) return tl::make_unexpected(quoted.error());
    if (quoted->empty()) {
      is_cut_ = true;
      return {};
    }
    const std::string key(quoted->substr(1, quoted->size() - 2));
    window_.consume(quoted->size());
    next = peek();
    if (!next) return tl::make_unexpected(next.error());
    if (*next != ':') return bad("a colon expected after \"" + key.substr(0, 40) + "\"");
    window_.consume(1);
    next = peek();
    if (!next) return tl::make_unexpected(next.error());
    if (*next == -1) {
      is_cut_ = true;
      return {};
    }
    if ((key == "traceEvents" || key == "samples") && *next == '[') {
      window_.consume(1);
      if (Status all = elements(visitor, true); !all) return all;
      if (is_cut_) return {};
      continue;
    }
    const auto found = value(kEventBytesMax);
    if (!found) return tl::make_unexpected(found.error());
    if (found->empty()) {
      is_cut_ = true;
      return {};
    }
    const size_t size = found->size();
    if (Status seen = visitor.member(key, size <= kMemberMax ? *found : std::string_view()); !seen) return seen;
    window_.consume(size);
  }
}

Status JsonSplitter::run(const Visitor& visitor) {
  auto first = peek();
  if (!first) return tl::make_unexpected(first.error());
  if (window_.bytes().starts_with("\xef\xbb\xbf")) {
    window_.consume(3);
    first = peek();
    if (!first) return tl::make_unexpected(first.error());
  }
  if (*first == -1) return bad("an empty file");
  if (*first == '[') {
    window_.consume(1);
    if (Status all = elements(visitor, true); !all) return all;
  } else if (*first == '{') {
    // Objects one after the other: the first one is an event.
    const std::string_view bytes = window_.bytes();
    const size_t line = bytes.find('\n');
    const std::string_view begin = bytes.substr(0, std::min(line, bytes.size()));
    is_lines_ =
        begin.find("\"ph\"") != std::string_view::npos && begin.find("\"traceEvents\"") == std::string_view::npos;
    if (Status all = is_lines_ ? elements(visitor, false) : members(visitor); !all) return all;
  } else {
    return bad("no JSON: an object or an array expected");
  }
  if (is_cut_ || input_.is_cut()) {
    is_cut_ = true;
    return {};
  }
  const auto rest = peek();
  if (!rest) return tl::make_unexpected(rest.error());
  if (*rest != -1) return bad("bytes behind the end of the JSON text");
  return {};
}

}  // namespace mlrun::exchange
