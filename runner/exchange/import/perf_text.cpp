// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/perf_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "runner/exchange/import/child_text.h"
#include "runner/exchange/import/decimal_time.h"
#include "runner/exchange/import/file_lines.h"
#include "runner/exchange/import/json_members.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr int kDigitsOfSecond = 9;
constexpr std::string_view kBlanks = " \t";

// "comm 12/34 [001] 123.456789: 1000 cycles:u: rest"; with perf script -F only some of these fields
struct PerfHead {
  std::string_view comm, pid, tid, event, rest;
  int64_t ts_ns = 0, period = -1;
  int32_t cpu = -1;
};

std::string_view strip(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks), last = text.find_last_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

// Cuts the last word off.
std::string_view last_word(std::string_view& text) {
  text = strip(text);
  const size_t at = text.find_last_of(kBlanks);
  const std::string_view word = at == std::string_view::npos ? text : text.substr(at + 1);
  text = strip(text.substr(0, text.size() - word.size()));
  return word;
}

std::string_view first_word(std::string_view& text) {
  text = strip(text);
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text = strip(text.substr(word.size()));
  return word;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Parses process, thread and CPU before the time: absent, or "comm 12/34 [001]". perf prints -1 for an unknown process or thread.
bool take_owner(std::string_view before, PerfHead& head) {
  before = strip(before);
  if (before.empty()) return true;
  std::string_view id = last_word(before);
  if (id.starts_with('[') && id.ends_with(']')) {
    const std::string_view cpu = id.substr(1, id.size() - 2);
    const size_t first = std::min(cpu.find_first_not_of('0'), cpu.size() - (cpu.empty() ? 0 : 1));
    head.cpu = static_cast<int32_t>(std::clamp<int64_t>(json_integer(cpu.substr(first), -1), -1, INT32_MAX));
    if (before.empty()) return head.cpu >= 0;
    id = last_word(before);
  }
  const auto is_id = [](std::string_view text) { return text == "-1" || is_number(text); };
  const size_t slash = id.find('/');
  head.pid = id.substr(0, slash);
  head.tid = slash == std::string_view::npos ? head.pid : id.substr(slash + 1);
  head.comm = before;
  return is_id(head.pid) && is_id(head.tid);
}

// Whether the text begins with an address and a name: the frame of a sample without a call chain.
bool is_address_and_name(std::string_view word, std::string_view rest) {
  constexpr size_t kDigitsMin = 5;
  return word.size() >= kDigitsMin && is_hex(word) && !rest.empty() &&
         !is_hex(rest.substr(0, rest.find_first_of(kBlanks)));
}

std::optional<PerfHead> parse_head(std::string_view line) {
  if (line.empty() || line[0] == '#') return std::nullopt;
  // The time: the first "123.456:".
  for (size_t at = 0; at < line.size();) {
    const size_t begin = line.find_first_not_of(kBlanks, at);
    if (begin == std::string_view::npos) return std::nullopt;
    const size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    at = end;
    const bool is_time = word.size() > 2 && word.ends_with(':') && word.find('.') != std::string_view::npos;
    const auto ns = is_time ? decimal_ns(word.substr(0, word.size() - 1), kDigitsOfSecond) : std::nullopt;
    if (!ns) continue;
    PerfHead head;
    head.ts_ns = *ns;
    if (!take_owner(line.substr(0, begin), head)) return std::nullopt;
    std::string_view after = line.substr(end);
    std::string_view event = first_word(after);
    if (is_number(event)) {  // the period, unless it is an address
      std::string_view later = after;
      const std::string_view next = first_word(later);
      if (next.empty() || next.ends_with(':') || next.starts_with("PERF_RECORD") || is_address_and_name(next, later)) {
        head.period = json_integer(event, -1);
        event = next;
        after = later;
      }
    }
    if (event.ends_with(':')) {
      head.event = event.substr(0, event.size() - 1);
      head.rest = after;
    } else if (event.starts_with("PERF_RECORD")) {
      head.event = event;
      head.period = -1;
      head.rest = strip(line.substr(end));
    } else if (event.empty() || is_address_and_name(event, after)) {  // -F without event
      if (head.pid.empty()) return std::nullopt;
      if (!event.empty()) head.rest = strip(line.substr(static_cast<size_t>(event.data() - line.data())));
    } else {
      return std::nullopt;
    }
    return head;
  }
  return std::nullopt;
}

// Parses a frame such as "55d0 main+0x12 (/bin/app)".
std::optional<model::FrameRow> parse_frame(std::string_view line, TraceMaker& to) {
  line = strip(line);
  std::string_view address = line.substr(0, line.find_first_of(kBlanks));
  if (address.starts_with("0x")) address.remove_prefix(2);
  if (!is_hex(address)) return std::nullopt;
  model::FrameRow row;
  std::from_chars(address.data(), address.data() + address.size(), row.offset, 16);
  const size_t begin = line.find_first_of(kBlanks);
  std::string_view name = begin == std::string_view::npos ? std::string_view() : strip(line.substr(begin));
  if (name.ends_with(')')) {
    const size_t open = name.rfind('(');
    const bool is_library = open == 0 || (open != std::string_view::npos && name[open - 1] == ' ');
    if (is_library) {  // else, with -F without dso, the parentheses hold types of arguments
      const std::string_view library = name.substr(open + 1, name.size() - open - 2);
      if (library != "[unknown]" && library != "inlined") row.file = to.library(util::escaped_utf8(library));
      name = strip(name.substr(0, open));
    }
  }
  if (const size_t plus = name.rfind("+0x"); plus != std::string_view::npos) name = name.substr(0, plus);
  if (name != "[unknown]") row.function = util::escaped_utf8(name);
  row.state = row.function.empty() ? model::FrameState::kNoSymbol : model::FrameState::kNamed;
  return row;
}

// Parses a line such as "train.c:12", which perf writes below a frame with -F +srcline. False: it is no such line.
bool take_source(std::string_view line, std::vector<model::FrameRow>& frames) {
  line = strip(line);
  const size_t colon = line.rfind(':');
  if (frames.empty() || colon == std::string_view::npos || colon == 0) return false;
  const std::string_view number = line.substr(colon + 1);
  if ((!is_number(number) && number != "?") || line.find_first_of(kBlanks) != std::string_view::npos) return false;
  frames.back().source = util::escaped_utf8(line.substr(0, colon));
  frames.back().line = static_cast<decltype(frames.back().line)>(std::min<int64_t>(json_integer(number, 0), INT32_MAX));
  return true;
}

// perf can print a whole sample on one line. Its frame then comes last, after other fields, which may be hex numbers.
std::optional<model::FrameRow> frame_at_end(std::string_view rest, TraceMaker& to) {
  size_t best = std::string_view::npos;
  for (size_t at = 0; at < rest.size();) {
    const size_t begin = rest.find_first_not_of(kBlanks, at);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(rest.find_first_of(kBlanks, begin), rest.size());
    const size_t next = rest.find_first_not_of(kBlanks, end);
    if (is_hex(rest.substr(begin, end - begin)) && next != std::string_view::npos &&
        !is_hex(rest.substr(next, rest.find_first_of(kBlanks, next) - next)) && rest[next] != '|') {
      best = begin;
    }
    at = end;
  }
  const bool is_whole = best == 0 || rest.ends_with(')');
  return best == std::string_view::npos || !is_whole ? std::nullopt : parse_frame(rest.substr(best), to);
}

class PerfReader {
 public:
  explicit PerfReader(TraceMaker& to) : to_(to) {}

  Status line(std::string_view text) {
    if (strip(text).empty()) return end_sample();
    const bool is_frame = has_sample_ && (text[0] == ' ' || text[0] == '\t');
    if (is_frame) {
      if (auto frame = parse_frame(text, to_); frame && !parse_head(text)) {
        frames_.push_back(*std::move(frame));
        return {};
      }
      if (take_source(text, frames_)) return {};
    }
    const auto head = parse_head(text);
    if (!head) {
      if (!text.starts_with('#')) to_.file().leave_out("a line that is not a sample");
      return {};
    }
    if (Status ended = end_sample(); !ended) return ended;
    return begin_sample(*head);
  }
  Status end_sample() {
    if (!has_sample_) return {};
    has_sample_ = false;
    row_.stack_id = to_.stack(frames_);
    row_.event = event_;
    row_.args = args_;
    frames_.clear();
    return to_.add(row_);
  }

 private:
  Status begin_sample(const PerfHead& head) {
    const int32_t proc_id = head.pid.empty() ? 0 : to_.ids().process(head.pid);
    const int32_t thread_id = head.tid.empty() ? 0 : to_.ids().thread(proc_id, head.tid);
    if (thread_id != 0) to_.ids().name_thread(thread_id, head.comm);
    row_ = {};
    row_.origin = to_.ids().origin(head.ts_ns, proc_id, thread_id);
    row_.cpu = head.cpu;
    row_.period = head.period;
    event_ = util::escaped_utf8(head.event);
    args_.clear();
    if (!head.rest.empty()) {
      args_ = "{\"text\":" + quoted_json(util::escaped_utf8(head.rest)) + "}";
      if (auto frame = frame_at_end(head.rest, to_)) frames_.push_back(*std::move(frame));
    }
    has_sample_ = true;
    return {};
  }

  TraceMaker& to_;
  model::StackSampleRow row_;
  std::string event_, args_;
  std::vector<model::FrameRow> frames_;
  bool has_sample_ = false;
};

Status read_lines(Input& input, const std::string& path, TraceMaker& to) {
  to.file().clock = FileClock::kMonotonic;
  PerfReader reader(to);
  const auto see = [&](std::string_view text, int64_t) { return reader.line(text); };
  if (Status read = for_each_line(input, path, to, see); !read) return read;
  return reader.end_sample();
}

}  // namespace

bool looks_like_perf_text(const std::string& text) {
  size_t at = 0;
  for (int lines = 0; lines < 200 && at < text.size(); ++lines) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (parse_head(std::string_view(text).substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

Status read_perf_text(const std::string& path, TraceMaker& to) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  return read_lines(**input, path, to);
}

Status read_perf_data(const std::string& path, TraceMaker& to) {
  auto child = ChildText::start({"perf", "script", "-i", path, "-F", "+pid", "--show-lost-events"},
                                "the program perf reads these files: apt-get install linux-perf");
  if (!child) return tl::make_unexpected(child.error());
  if (Status read = read_lines(**child, path, to); !read) return read;
  return (*child)->finish("cannot import " + path + ": perf script");
}

}  // namespace mlrun::exchange
