// SPDX-License-Identifier: Apache-2.0
// Names of functions as people write them, from those that compilers make.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mlrun::symbols {

inline constexpr size_t kDemangledBytesMax = 65536;

// A name of C++ (Itanium ABI) or Rust with its parameters; the name itself where it is neither, where no thread can be had for
// it, or where it would be longer than kDemangledBytesMax. Names may come from anywhere: a few hundred bytes can
// stand for gigabytes, as each part may be two of the part before, and deep ones need more stack than a thread has.
std::string demangled(std::string_view name);

}  // namespace mlrun::symbols
