// SPDX-License-Identifier: Apache-2.0
// A program of ours that runs out of memory ends with one line and an exit status, in whatever thread and whatever library that
// happens, and not by a signal.
#pragma once

#include <exception>
#include <string_view>

namespace mlrun::util {

inline constexpr int kMemoryShortStatus = 124;

// To be called once, by the thread that does the work. parent_says: the exit status is kMemoryShortStatus and the line is the parent's, which knows
// what to do; else it is 125.
void end_when_memory_is_short(bool parent_says);

// Ends like that now.
[[noreturn]] void end_for_want_of_memory();

// Whether this is about memory, or threads, for which there is no room.
bool is_memory_shortage(const std::exception& error);
bool is_memory_shortage(std::string_view error_text);

}  // namespace mlrun::util
