// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

namespace mlrun::monitor {

namespace {

std::string_view cut(std::string_view line, size_t columns) {
  size_t at = 0;
  for (size_t characters = 0; at < line.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(line[at]) & 0xc0) != 0x80;
    if (begins && characters++ == columns) break;
  }
  return line.substr(0, at);
}

Result<bool> write_out(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return true;
  if (errno == EPIPE) return false;
  return fail_errno("write the table to standard output", errno);
}

}  // namespace

std::string fitted(std::string_view block, size_t columns, size_t rows) {
  std::string text;
  for (size_t row = 0; row < rows && !block.empty(); ++row) {
    const size_t end = std::min(block.find('\n'), block.size());
    text += cut(block.substr(0, end), columns);
    text += '\n';
    block.remove_prefix(std::min(end + 1, block.size()));
  }
  return text;
}

Screen::Screen() : is_terminal_(::isatty(STDOUT_FILENO) == 1) {}

Result<bool> Screen::show(std::string_view block) {
  if (!is_terminal_) {
    const std::string separated = (lines_shown_++ == 0 ? "" : "\n") + std::string(block);
    return write_out(separated);
  }
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 1;
  const std::string text = fitted(block, known ? size.ws_col : 80, known ? size.ws_row - 1 : 23);
  // Up to where the block before began; what it had beyond this one goes.
  const std::string up = lines_shown_ == 0 ? "" : fmt::format("\033[{}A\r\033[J", lines_shown_);
  lines_shown_ = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  return write_out(up + text);
}

}  // namespace mlrun::monitor
