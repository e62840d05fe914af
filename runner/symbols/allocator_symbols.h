// SPDX-License-Identifier: Apache-2.0
// What the symbols of a library or program show about its memory allocator.
#pragma once

#include <set>
#include <string>

namespace mlrun::symbols {

struct AllocatorSymbols {
  std::set<std::string> own;  // allocators that are linked into the file: "jemalloc", "mimalloc", "tcmalloc"
  bool calls_new = false;     // the file is C++ and calls an external operator new
};

// Reads .dynsym, and .symtab unless stripped. Empty if the file is missing or not ELF.
AllocatorSymbols read_allocator_symbols(const std::string& path);

}  // namespace mlrun::symbols
