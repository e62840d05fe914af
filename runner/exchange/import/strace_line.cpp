// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/strace_line.h"

#include <algorithm>

#include "runner/exchange/import/decimal_time.h"

namespace mlrun::exchange {

namespace {

constexpr int kDigitsOfStraceSecond = 9;

std::string_view without_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

std::string_view next_word(std::string_view& line) {
  line = without_blanks(line);
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  line = without_blanks(line);
  return word;
}

constexpr int64_t kPidMax = 4'194'304, kEpochMinNs = int64_t{100'000'000} * 1'000'000'000;

// Parses a time: HH:MM:SS[.ssssss] since midnight, or seconds since the epoch or the line before.
std::optional<int64_t> time_of(std::string_view word, StraceLine::Since& since) {
  since = StraceLine::Since::kMidnight;
  if (word.find(':') == std::string_view::npos) {
    const auto ns = decimal_ns(word, kDigitsOfStraceSecond);
    const bool is_epoch = ns && *ns >= kEpochMinNs;
    since = is_epoch ? StraceLine::Since::kEpoch : StraceLine::Since::kLine;
    return is_epoch || word.find('.') != std::string_view::npos ? ns : std::nullopt;
  }
  if (word.size() < 8 || word[2] != ':' || word[5] != ':') return std::nullopt;
  const auto hours = decimal_ns(word.substr(0, 2), 0), minutes = decimal_ns(word.substr(3, 2), 0);
  const auto seconds = decimal_ns(word.substr(6), kDigitsOfStraceSecond);
  if (!hours || !minutes || !seconds) return std::nullopt;
  return (*hours * 3600 + *minutes * 60) * 1'000'000'000 + *seconds;
}

// If a text, a comment or the name of a descriptor (`3</a(b>`, `4<TCP:[a->b]>`) begins at `at`, its last byte, since brackets and commas in it
// do not count; else `at`.
size_t end_of_hidden(std::string_view text, size_t at) {
  if (text[at] == '"') {
    for (size_t i = at + 1; i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        return i;
      }
    }
    return text.size() - 1;
  }
  if (text.substr(at).starts_with("/*")) {
    const size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? at : end + 1;
  }
  const bool is_name = text[at] == '<' && at > 0 &&
                       ((text[at - 1] >= '0' && text[at - 1] <= '9') || text[at - 1] == 'D') && at + 1 < text.size() &&
                       text[at + 1] != '<';
  if (!is_name) return at;
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '>' && text[i - 1] != '-') return i;
  }
  return at;
}

// The index of `byte` outside of texts and brackets, or npos.
size_t find_outside(std::string_view text, char byte) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    i = end_of_hidden(text, i);
    const char c = text[i];
    if (c == byte && depth <= 0) return i;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return std::string_view::npos;
}

// Parses a result such as "= -1 ENOENT (No such file or directory) <0.000012>".
bool parse_result(std::string_view text, StraceLine& line) {
  text = without_blanks(text);
  if (!text.starts_with('=')) return false;
  text.remove_prefix(1);
  if (text.ends_with('>')) {
    const size_t open = text.rfind('<');
    if (open != std::string_view::npos)
      line.dur_ns = decimal_ns(text.substr(open + 1, text.size() - open - 2), kDigitsOfStraceSecond);
    if (line.dur_ns) text = text.substr(0, open);
  }
  text = without_blanks(text);
  size_t size = 0;
  while (size < text.size() && text[size] != ' ') size = end_of_hidden(text, size) + 1;
  line.ret = text.substr(0, size);
  text = without_blanks(text.substr(size));
  if (text.starts_with('E')) {
    line.error = text.substr(0, text.find_first_of(" ("));
  } else {
    line.detail = text;
  }
  return !line.ret.empty();
}

// Parses the tid at the beginning of a line: "[pid 12] ", "12 ", or with the name of the process "12<name> ".
void take_tid(std::string_view& rest, StraceLine& line) {
  const bool is_long = rest.starts_with("[pid ");
  std::string_view text = is_long ? without_blanks(rest.substr(5)) : rest;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view tid = text.substr(0, digits);
  text.remove_prefix(digits);
  if (text.starts_with('<')) text.remove_prefix(std::min(text.find('>'), text.size() - 1) + 1);
  if (tid.empty() || tid.size() > 7 || !text.starts_with(is_long ? ']' : ' ')) return;
  if (decimal_ns(tid, 0).value_or(0) > kPidMax) return;
  line.tid = tid;
  rest = without_blanks(text.substr(1));
}

void take_time(std::string_view& rest, StraceLine& line) {
  std::string_view after = rest;
  line.time_ns = time_of(next_word(after), line.since);
  if (!line.time_ns) return;
  rest = after;
  if (!rest.starts_with("(+")) return;  // -r beside -t
  const size_t end = rest.find(')');
  if (end != std::string_view::npos) rest = without_blanks(rest.substr(end + 1));
}

// Skips the instruction pointer of -i and the system call's number of -n, which are in brackets.
void skip_brackets(std::string_view& rest) {
  while (rest.starts_with('[')) {
    const size_t end = rest.find(']');
    if (end == std::string_view::npos ||
        rest.substr(1, end - 1).find_first_not_of("0123456789abcdef ?") != std::string_view::npos)
      return;
    rest = without_blanks(rest.substr(end + 1));
  }
}

void parse_call(std::string_view text, StraceLine& line) {
  if (text.starts_with("+++")) {
    line.kind = StraceLine::Kind::kExit;
    line.args = text;
    return;
  }
  if (text.starts_with("---")) {
    line.kind = StraceLine::Kind::kSignal;
    line.args = text;
    return;
  }
  constexpr std::string_view kUnfinished = "<unfinished ...>", kResumed = " resumed>", kMessage = "strace: Process ";
  if (text == kUnfinished) {
    line.kind = StraceLine::Kind::kHalf;
    return;
  }
  if (text.starts_with("<... ")) {
    const size_t end = text.find(kResumed);
    if (end == std::string_view::npos) return;
    line.name = text.substr(5, end - 5);
    text.remove_prefix(end + kResumed.size());
    line.kind = StraceLine::Kind::kResumed;
  } else {
    const size_t open = text.find('(');
    if (open == std::string_view::npos || open == 0 || text.find_first_of(" <\"") < open) return;
    line.name = text.substr(0, open);
    text.remove_prefix(open + 1);
    line.kind = StraceLine::Kind::kCall;
  }
  text = without_blanks(text);
  // "vfork(strace: Process 12 attached": the rest of the line comes later.
  size_t cut = text.ends_with(" attached") ? text.rfind(kMessage) : std::string_view::npos;
  if (text.ends_with(kUnfinished)) cut = text.size() - kUnfinished.size();
  if (cut != std::string_view::npos) {
    line.args = without_blanks(text.substr(0, cut));
    if (line.kind == StraceLine::Kind::kResumed) {
      line.again_unfinished = true;
    } else {
      line.kind = StraceLine::Kind::kUnfinished;
    }
    return;
  }
  const size_t end = find_outside(text, ')');
  if (end == std::string_view::npos || !parse_result(text.substr(end + 1), line)) {
    line.kind = StraceLine::Kind::kOther;
    return;
  }
  line.args = text.substr(0, end);
}

}  // namespace

StraceLine parse_strace_line(std::string_view text) {
  StraceLine line;
  std::string_view rest = without_blanks(text);
  take_tid(rest, line);
  take_time(rest, line);
  skip_brackets(rest);
  parse_call(rest, line);
  return line;
}

std::vector<std::string_view> strace_arguments(std::string_view args) {
  std::vector<std::string_view> list;
  while (!args.empty()) {
    const size_t comma = std::min(find_outside(args, ','), args.size());
    list.push_back(without_blanks(args.substr(0, comma)));
    args.remove_prefix(std::min(comma + 1, args.size()));
  }
  return list;
}

}  // namespace mlrun::exchange
