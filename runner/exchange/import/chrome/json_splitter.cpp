// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/json_splitter.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "runner/exchange/import/json_marks.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

JsonMarks marks_of(const char* block) {
  JsonMarks marks;
  for (size_t at = 0; at < kJsonBlock; at += JsonBytes::kBytes) mark(JsonBytes(block, at), marks);
  return marks;
}

// Finds the end of an object, array or text that begins at the first byte; can be resumed when there are more bytes.
class ValueEnd {
 public:
  enum class Found : uint8_t { kEnd, kMore, kTooDeep };

  explicit ValueEnd(char first) : is_quoted_(first == '"') {}

  Found search(std::string_view bytes) {
    for (; at_ + kJsonBlock <= bytes.size(); at_ += kJsonBlock) {
      const JsonMarks marks = marks_of(bytes.data() + at_);
      if (is_quoted_ || marks.backslashes != 0 || escaped_ == at_) {
        if (const Found found = see_each(bytes, kJsonBlock); found != Found::kMore) return found;
        continue;
      }
      const uint64_t texts = parities(marks.quotes) ^ (is_text_ ? ~uint64_t{0} : 0);
      is_text_ = texts >> (kJsonBlock - 1) != 0;
      const uint64_t opens = marks.opens & ~texts, closes = marks.closes & ~texts;
      if (const Found found = count(opens, closes); found != Found::kMore) return found;
    }
    return see_each(bytes, bytes.size() - at_, true);
  }
  [[nodiscard]] size_t size() const { return size_; }
  // The first `size` bytes have been removed.
  void forget(size_t size) {
    at_ -= size;
    escaped_ = escaped_ == kNone || escaped_ < size ? kNone : escaped_ - size;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  // Byte by byte, from at_. The last ones of a window are seen again with those that follow, unless they are consumed.
  Found see_each(std::string_view bytes, size_t size, bool moves = false) {
    for (size_t i = at_; i < at_ + size; ++i) {
      const Found found = see(bytes, i);
      if (found != Found::kMore) return found;
    }
    if (moves) at_ += size;
    return Found::kMore;
  }
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
  // Counts the brackets of one block, in order.
  Found count(uint64_t opens, uint64_t closes) {
    for (uint64_t both = opens | closes; both != 0; both &= both - 1) {
      const int bit = std::countr_zero(both);
      depth_ += (opens >> bit & 1) != 0 ? 1 : -1;
      if (depth_ == 0) return end(at_ + static_cast<size_t>(bit));
      if (depth_ > kDepthMax) return Found::kTooDeep;
    }
    return Found::kMore;
  }
  Found end(size_t i) {
    size_ = i + 1;
    return Found::kEnd;
  }

  size_t at_ = 0, size_ = 0;
  size_t escaped_ = kNone;  // the byte after a backslash in a text
  int depth_ = 0;
  const bool is_quoted_;
  bool is_text_ = false;
};

constexpr std::string_view kEndsOfScalar = ",}] \n\r\t";

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
Result<std::string_view> JsonSplitter::value(size_t limit, bool skips_long) {
  const char first = window_.bytes().front();
  const bool is_scalar = first != '{' && first != '[' && first != '"';
  // Numbers, true, false, null; NaN and Infinity, as Python writes them.
  if (is_scalar && std::string_view("-0123456789tfnNI").find(first) == std::string_view::npos) {
    return bad(fmt::format("byte 0x{:02x} where a JSON value is expected", static_cast<unsigned char>(first)));
  }
  is_skipped_ = false;
  ValueEnd end(first);
  for (;;) {
    const std::string_view bytes = window_.bytes();
    if (is_scalar) {
      const size_t size = bytes.find_first_of(kEndsOfScalar);
      if (size != std::string_view::npos) return bytes.substr(0, size);
    } else {
      switch (end.search(bytes)) {
        case ValueEnd::Found::kEnd: return bytes.substr(0, end.size());
        case ValueEnd::Found::kTooDeep: return bad(fmt::format("a value that is nested more than {} deep", kDepthMax));
        case ValueEnd::Found::kMore: break;
      }
    }
    if (bytes.size() > limit) {
      if (!skips_long || is_scalar) return bad(fmt::format("a value of more than {} MiB", limit >> 20));
      is_skipped_ = true;
      end.forget(bytes.size());
      window_.consume(bytes.size());
    }
    const auto more = window_.grow();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return is_scalar ? window_.bytes() : std::string_view();
  }
}

// Whether an object follows the brackets that begin here: then the end of the current array is missing, and the next array begins.
Result<bool> JsonSplitter::opens_more_objects() {
  for (;;) {
    const std::string_view bytes = window_.bytes();
    const size_t at = bytes.find_first_not_of(" \n\r\t[");
    if (at != std::string_view::npos) return bytes[at] == '{';
    if (bytes.size() > kMemberMax) return false;
    const auto more = window_.grow();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return false;
  }
}

// Reads the elements of `depth` open arrays; if 0, values one after the other until the end of the file.
Status JsonSplitter::elements(const Visitor& visitor, int depth) {
  const bool has_end = depth != 0;
  for (;;) {
    const auto next = peek();
    if (!next) return tl::make_unexpected(next.error());
    if (*next == -1) {
      is_cut_ = depth != 0;
      return {};
    }
    if (*next == ',') {
      window_.consume(1);
      continue;
    }
    if (*next == ']' && depth > 0) {
      window_.consume(1);
      if (--depth == 0 && has_end) return {};
      continue;
    }
    if (*next == '[') {
      const auto opens = opens_more_objects();
      if (!opens) return tl::make_unexpected(opens.error());
      if (*opens && depth < kDepthMax) {
        window_.consume(1);
        ++depth;
        continue;
      }
    }
    const auto read = *next == '{' && visitor.object ? visitor.object(window_.bytes()) : Result<size_t>(0);
    if (!read) return tl::make_unexpected(read.error());
    size_t size = *read;
    if (size == 0) {
      const auto found = value(kEventBytesMax, false);
      if (!found) return tl::make_unexpected(found.error());
      if (found->empty()) {
        is_cut_ = has_partial_ = true;
        return {};
      }
      size = found->size();
      if (Status seen = visitor.element(*found, window_.offset()); !seen) return seen;
    }
    window_.consume(size);
    if (visitor.progress) visitor.progress(input_.file_at());
  }
}

// A member's name and the colon; false: the object, or the file, ends here.
Result<bool> JsonSplitter::next_member(std::string& key) {
  auto next = peek();
  while (next && *next == ',') {
    window_.consume(1);
    next = peek();
  }
  if (!next) return tl::make_unexpected(next.error());
  if (*next == '}') {
    window_.consume(1);
    return false;
  }
  is_cut_ = *next == -1;
  if (is_cut_) return false;
  if (*next != '"')
    return bad(*next < ' ' || *next > '~' ? fmt::format("a name of a member expected, byte 0x{:02x} found", *next)
                                          : fmt::format("a name of a member expected, '{:c}' found", *next));
  const auto quoted = value(kMemberMax, false);
  if (!quoted) return tl::make_unexpected(quoted.error());
  is_cut_ = quoted->empty();
  if (is_cut_) return false;
  key = quoted->substr(1, quoted->size() - 2);
  window_.consume(quoted->size());
  next = peek();
  if (!next) return tl::make_unexpected(next.error());
  is_cut_ = *next == -1;
  if (is_cut_) return false;
  if (*next != ':') return bad("a colon expected after \"" + util::printable(key.substr(0, 40)) + "\"");
  window_.consume(1);
  next = peek();
  if (!next) return tl::make_unexpected(next.error());
  is_cut_ = *next == -1;
  return !is_cut_;
}

// Reads an object that is inside of `depth` other objects.
Status JsonSplitter::members(const Visitor& visitor, int depth) {
  window_.consume(1);
  for (std::string key;;) {
    const auto is_member = next_member(key);
    if (!is_member) return tl::make_unexpected(is_member.error());
    if (!*is_member) return {};
    const char first = window_.bytes().front();
    const Reads reads = visitor.reads(depth, key, first);
    if (reads == Reads::kElements) {
      window_.consume(1);
      has_events_ = true;
      if (Status all = elements(visitor, 1); !all || is_cut_) return all;
      continue;
    }
    if (reads == Reads::kMembers) {
      if (Status all = members(visitor, depth + 1); !all || is_cut_) return all;
      continue;
    }
    has_events_ |= depth == 0 && key == "traceEvents" && first == 'n';  // null
    const auto found = value(kMemberMax, true);
    if (!found) return tl::make_unexpected(found.error());
    is_cut_ = found->empty();
    if (is_cut_) return {};
    const size_t size = found->size();
    if (visitor.member) {
      if (Status seen = visitor.member(depth, key, is_skipped_ ? std::string_view() : *found); !seen) return seen;
    }
    window_.consume(size);
  }
}

// Whether the object that begins here is itself an event (has "ph"), as far as the window shows.
bool JsonSplitter::begins_with_event() const {
  std::string_view bytes = window_.bytes().substr(1);
  const auto skip = [&](std::string_view what) {
    bytes.remove_prefix(std::min(bytes.find_first_not_of(what), bytes.size()));
    return bytes.empty() ? '\0' : bytes.front();
  };
  for (;;) {
    if (skip(" \n\r\t,") != '"') return false;
    ValueEnd key('"');
    if (key.search(bytes) != ValueEnd::Found::kEnd) return false;
    if (bytes.substr(0, key.size()) == "\"ph\"") return true;
    bytes.remove_prefix(key.size());
    const char first = skip(" \n\r\t:");
    if (first == '{' || first == '[' || first == '"') {
      ValueEnd value(first);
      if (value.search(bytes) != ValueEnd::Found::kEnd) return false;
      bytes.remove_prefix(value.size());
    } else {
      bytes.remove_prefix(std::min(bytes.find_first_of(kEndsOfScalar), bytes.size()));
    }
  }
}

// Reads one JSON text, or, if it begins with an event, all objects that follow.
Status JsonSplitter::text(const Visitor& visitor) {
  static_cast<void>(visitor.reads(0, {}, window_.bytes().front()));
  if (window_.bytes().front() == '[') {
    window_.consume(1);
    has_events_ = true;
    return elements(visitor, 1);
  }
  while (window_.bytes().size() < kMemberMax) {
    const auto more = window_.grow();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
  }
  if (!begins_with_event()) return members(visitor, 0);
  has_events_ = true;
  return elements(visitor, 0);
}

Status JsonSplitter::run(const Visitor& visitor) {
  auto next = peek();
  if (!next) return tl::make_unexpected(next.error());
  if (window_.bytes().starts_with("\xef\xbb\xbf")) {
    window_.consume(3);
    next = peek();
    if (!next) return tl::make_unexpected(next.error());
  }
  if (*next == -1) return bad("an empty file");
  if (*next != '[' && *next != '{') return bad("neither a JSON object nor a JSON array begins");
  // Several traces in one file, such as made by cat, are read as one.
  while (*next == '[' || *next == '{') {
    if (Status read = text(visitor); !read || is_cut_) return read;
    next = peek();
    if (!next) return tl::make_unexpected(next.error());
  }
  if (*next != -1) return bad("bytes after the end of the JSON text");
  is_cut_ = input_.is_cut();
  return {};
}

}  // namespace mlrun::exchange
