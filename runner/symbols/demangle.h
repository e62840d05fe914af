// SPDX-License-Identifier: Apache-2.0
// Demangles function names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mlrun::symbols {

inline constexpr size_t kMangledBytesMax = 16384, kDemangledBytesMax = 65536;

// Demangles a C++ (Itanium ABI) or Rust name, with parameters. Returns the name itself if it is neither, if it is
// longer than kMangledBytesMax or its result would exceed kDemangledBytesMax, if the library gives up (about 500 nested
// templates), if it takes longer than kAnswerMs or crashes the child; and, after kFailuresMax such names, always.
//
// Names are untrusted. A few hundred bytes can expand to gigabytes, run for hours or overflow the stack, so a child
// process demangles them; it starts with the first name and ends with this process.
std::string demangled(std::string_view name);

inline constexpr int kAnswerMs = 2000, kFailuresMax = 8;

// Number of names not demangled because the child crashed, timed out, or is no longer started.
size_t names_given_up();

// Starts the child. It keeps a copy of this process's memory: call it while that is small.
void prepare_demangling();

}  // namespace mlrun::symbols
