// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/strace_line.h"

#include <algorithm>

#include "runner/exchange/import/decimal_time.h"

namespace mlrun::exchange {

namespace {

constexpr int kDigitsOfSecond = 9;

std::string_view without_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view next_word(std::string_view& line) {
  line = without_blanks(line);
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  line = without_blanks(line);
  return word;
}

// HH:MM:SS[.ssssss] since midnight, or seconds since the epoch.
std::optional<int64_t> time_of(std::string_view word, bool& is_epoch) {
  is_epoch = word.find(':') == std::string_view::npos;
  if (is_epoch) return word.find('.') == std::string_view::npos ? std::nullopt : decimal_ns(word, kDigitsOfSecond);
  if (word.size() < 8 || word[2] != ':' || word[5] != ':') return std::nullopt;
  const auto hours = decimal_ns(word.substr(0, 2), 0), minutes = decimal_ns(word.substr(3, 2), 0);
  const auto seconds = decimal_ns(word.substr(6), kDigitsOfSecond);
  if (!hours || !minutes || !seconds) return std::nullopt;
  return (*hours * 3600 + *minutes * 60) * 1'000'000'000 + *seconds;
}

// The place of the parenthesis that closes the arguments, or npos.
size_t end_of_arguments(std::string_view text) {
  int depth = 0;
  bool is_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_text) {
      if (c == '\\') ++i;
      if (c == '"') is_text = false;
      continue;
    }
    if (c == '"') is_text = true;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') {
      if (depth == 0) return i;
      --depth;
    }
  }
  return std::string_view::npos;
}

// "= -1 ENOENT (No such file or directory) <0.000012>"
bool parse_result(std::string_view text, StraceLine& line) {
  text = without_blanks(text);
  if (!text.starts_with('=')) return false;
  text.remove_prefix(1);
  if (text.ends_with('>')) {
    const size_t open = text.rfind('<');
    if (open != std::string_view::npos)
      line.dur_ns = decimal_ns(text.substr(open + 1, text.size() - open - 2), kDigitsOfSecond);
    if (line.dur_ns) text = text.substr(0, open);
  }
  line.ret = next_word(text);
  if (text.starts_with('E')) line.error = text.substr(0, text.find_first_of(" ("));
  return !line.ret.empty();
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
  constexpr std::string_view kUnfinished = "<unfinished ...>", kResumed = " resumed>";
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
  if (text.ends_with(kUnfinished)) {
    line.args = without_blanks(text.substr(0, text.size() - kUnfinished.size()));
    if (line.kind == StraceLine::Kind::kResumed) {
      line.again_unfinished = true;
    } else {
      line.kind = StraceLine::Kind::kUnfinished;
    }
    return;
  }
  const size_t end = end_of_arguments(text);
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
  if (rest.starts_with("[pid ")) {
    const size_t end = rest.find(']');
    if (end == std::string_view::npos) return line;
    line.tid = without_blanks(rest.substr(5, end - 5));
    if (!is_digits(line.tid)) return line;
    rest.remove_prefix(end + 1);
  } else {
    std::string_view after = rest;
    const std::string_view word = next_word(after);
    if (is_digits(word)) {
      line.tid = word;
      rest = after;
    }
  }
  std::string_view after = rest;
  line.time_ns = time_of(next_word(after), line.is_epoch);
  parse_call(line.time_ns ? after : without_blanks(rest), line);
  return line;
}

std::vector<std::string_view> strace_arguments(std::string_view args) {
  std::vector<std::string_view> list;
  while (!args.empty()) {
    int depth = 0;
    bool is_text = false;
    size_t i = 0;
    for (; i < args.size(); ++i) {
      const char c = args[i];
      if (is_text) {
        if (c == '\\') ++i;
        if (c == '"') is_text = false;
        continue;
      }
      if (c == '"') is_text = true;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (c == ',' && depth <= 0) break;
    }
    i = std::min(i, args.size());
    list.push_back(without_blanks(args.substr(0, i)));
    args.remove_prefix(std::min(i + 1, args.size()));
  }
  return list;
}

}  // namespace mlrun::exchange
