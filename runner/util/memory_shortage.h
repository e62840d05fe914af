// SPDX-License-Identifier: Apache-2.0
// Ends our program with one line and an exit status when memory is short, in any thread and any library, instead of by
// a signal.
#pragma once

#include <exception>
#include <string_view>

namespace mlrun::util {

inline constexpr int kMemoryShortStatus = 124;

// To be called once, by the working thread. parent_says: exits with kMemoryShortStatus and the parent prints the line,
// since it knows what to do; else the exit status is 125.
void end_when_memory_is_short(bool parent_says);

// Ends the program in this way now.
[[noreturn]] void end_for_want_of_memory();

// Whether the error is a shortage of memory or threads.
bool is_memory_shortage(const std::exception& error);
bool is_memory_shortage(std::string_view error_text);

}  // namespace mlrun::util
