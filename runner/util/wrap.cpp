// SPDX-License-Identifier: Apache-2.0
#include "runner/util/wrap.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cstdlib>

namespace mlrun::util {

namespace {

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

}  // namespace

size_t terminal_width(int descriptor, size_t otherwise) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* variable = std::getenv("COLUMNS");
  const long columns = variable == nullptr ? 0 : std::strtol(variable, nullptr, 10);
  return columns > 0 ? static_cast<size_t>(columns) : otherwise;
}

std::string wrapped(std::string_view text, size_t width, std::string_view lead) {
  const std::string hang(characters(lead), ' ');
  std::string out, line(lead);
  bool is_empty = true;  // nothing but the lead so far
  const auto end_line = [&] {
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    line = hang;
    is_empty = true;
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (!word.empty()) {
      if (!is_empty && characters(line) + 1 + characters(word) > width) end_line();
      if (!is_empty) line += ' ';
      line += word;
      is_empty = false;
    }
    if (end < text.size() && text[end] == '\n') end_line();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  end_line();
  return out;
}

}  // namespace mlrun::util
