// SPDX-License-Identifier: Apache-2.0
// What the symbols of a library or program reveal about its memory allocator.
#pragma once

#include <set>
#include <string>

namespace mlrun::symbols {

struct AllocatorSymbols {
  std::set<std::string> own;  // allocators that are linked in: "jemalloc", "mimalloc", "tcmalloc"
  bool calls_new = false;     // C++: it calls an external operator new
};

// Reads .dynsym, and .symtab unless stripped. Empty if the file is missing or not ELF.
AllocatorSymbols read_allocator_symbols(const std::string& path);

}  // namespace mlrun::symbols
