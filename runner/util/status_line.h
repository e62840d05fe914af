// SPDX-License-Identifier: Apache-2.0
// A line on the terminal of standard error that is rewritten, and erased at the end. Nothing is written elsewhere.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string_view>

#include <fmt/format.h>

namespace mlrun::util {

// Not thread-safe.
class StatusLine {
 public:
  explicit StatusLine(bool wanted) : wanted_(wanted && ::isatty(STDERR_FILENO) == 1) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  [[nodiscard]] bool wanted() const { return wanted_; }

  // `text`: no control characters, and narrower than the terminal: a line that wraps cannot be rewritten.
  void show(std::string_view text) {
    if (wanted_) fmt::print(stderr, "\r\033[K{}", text);
    shown_ = wanted_;
  }
  // To be called before other output to the terminal.
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  const bool wanted_;
  bool shown_ = false;
};

}  // namespace mlrun::util
