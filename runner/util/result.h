// SPDX-License-Identifier: Apache-2.0
// Errors of the runner. A function that can fail for reasons outside our control returns Result<T>; the text is
// made where the cause is known and says what failed, on what, and what to do. main() is the only place that prints it.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace mlrun {

struct Error {
  std::string text;  // one line, no trailing newline
  int exit_code = 125;
  std::string below = {};  // lines to print below `text`, such as a list of names, each with a newline; mostly empty
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(std::string text, int exit_code = 125) {
  return tl::make_unexpected(Error{std::move(text), exit_code});
}

// "cannot WHAT: strerror": for a system call that set errno.
[[nodiscard]] inline tl::unexpected<Error> fail_errno(const std::string& what, int error_number) {
  return fail("cannot " + what + ": " + std::strerror(error_number));
}

}  // namespace mlrun
