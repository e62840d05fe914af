// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

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

// After poll reports the output writable, a write of this size does not block: a pipe then has room for a page, a
// terminal for less.
constexpr size_t kPieceBytes = 512;

bool has_room() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1;
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

Result<bool> Screen::go_on() {
  while (!rest_.empty() && has_room()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest_.data(), std::min(rest_.size(), kPieceBytes));
    if (written > 0) {
      rest_.erase(0, static_cast<size_t>(written));
    } else if (written < 0 && errno == EPIPE) {
      return false;
    } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return fail_errno("write the table to standard output", errno);
    } else {
      break;
    }
  }
  return true;
}

Result<bool> Screen::show(std::string_view block) {
  if (!rest_.empty()) return go_on();
  if (!is_terminal_) {
    rest_ = (lines_shown_++ == 0 ? "" : "\n") + std::string(block);
    return go_on();
  }
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 1;
  const std::string text = fitted(block, known ? size.ws_col : 80, known ? size.ws_row - 1 : 23);
  // Moves the cursor to the first line of the previous block and clears the screen from there.
  const std::string up = lines_shown_ == 0 ? "" : fmt::format("\033[{}A\r\033[J", lines_shown_);
  lines_shown_ = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  rest_ = up + text;
  return go_on();
}

}  // namespace mlrun::monitor
