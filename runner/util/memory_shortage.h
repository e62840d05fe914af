// SPDX-License-Identifier: Apache-2.0
// When memory is short, in any thread or library, ends our program with a one-line message and an exit status instead of
// by a signal.
#pragma once

#include <exception>
#include <string_view>

namespace mlrun::util {

inline constexpr int kMemoryShortStatus = 124;

// To be called once, by the working thread. `parent_says`: exits with kMemoryShortStatus without a message; the parent
// process prints one, since it knows what the user can do. Otherwise the exit status is 125.
void end_when_memory_is_short(bool parent_says);

// Ends the program now, with this message and exit status.
[[noreturn]] void end_for_want_of_memory();

// Whether the error is a shortage of memory or threads.
bool is_memory_shortage(const std::exception& error);
bool is_memory_shortage(std::string_view error_text);

}  // namespace mlrun::util
