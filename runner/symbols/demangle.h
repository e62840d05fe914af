// SPDX-License-Identifier: Apache-2.0
// Names of functions as people write them, from those that compilers make.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mlrun::symbols {

inline constexpr size_t kMangledBytesMax = 16384, kDemangledBytesMax = 65536;

// A name of C++ (Itanium ABI) or Rust with its parameters. The name itself where it is neither; where it is longer than
// kMangledBytesMax, or would be than kDemangledBytesMax; where the library gives up (templates in some 500 others); where it
// takes longer than kAnswerMs or ends the process that reads it, and after kFailuresMax such names any.
//
// Names may come from anywhere. A few hundred bytes can stand for gigabytes, for hours or for more stack than there is, so
// that they are read in a process of its own, which is begun with the first name and ends with this one.
std::string demangled(std::string_view name);

inline constexpr int kAnswerMs = 2000, kFailuresMax = 8;

// How many names, so far, were not read because that process ended, was held up, or is no longer begun.
size_t names_given_up();

// Begins that process. It keeps what this one has in memory by then: call it while that is little.
void prepare_demangling();

}  // namespace mlrun::symbols
