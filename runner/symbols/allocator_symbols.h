// SPDX-License-Identifier: Apache-2.0
// What the symbols of a library or program say of how it allocates memory.
#pragma once

#include <set>
#include <string>

namespace mlrun::symbols {

struct AllocatorSymbols {
  std::set<std::string> own;  // allocators that are linked in: "jemalloc", "mimalloc", "tcmalloc"
  bool calls_new = false;     // C++: it calls operator new of whoever has it
};

// Reads .dynsym, and .symtab where it was not stripped. Nothing of a file that is gone or is no ELF file.
AllocatorSymbols read_allocator_symbols(const std::string& path);

}  // namespace mlrun::symbols
