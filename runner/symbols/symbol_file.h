// SPDX-License-Identifier: Apache-2.0
// One library or program file: maps an address to its function and, with debug information (in the file or in a
// separate one below /usr/lib/debug), to its source line. Downloads nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace mlrun::symbols {

struct Place {
  std::string function;  // demangled; "": unknown
  std::string source;    // as passed to the compiler; "": unknown
  int line = 0;
};

// Addresses of a function, in the file's own numbering.
struct FunctionRange {
  uint64_t start = 0, end = 0;  // [start, end)
};

// Whether the file at the path is the one that ran.
enum class Identity { kSame, kMissing, kChanged };

class SymbolFile {
 public:
  // build_id: its bytes; "" for a file without one. Such a file is taken as the same if it has not been modified since `recorded_ns`
  // (CLOCK_REALTIME).
  SymbolFile(const std::string& path, const std::string& build_id, int64_t recorded_ns);
  ~SymbolFile();
  SymbolFile(const SymbolFile&) = delete;
  SymbolFile& operator=(const SymbolFile&) = delete;

  [[nodiscard]] Identity identity() const { return identity_; }

  // Requires: identity() is kSame. `address`: in the file's own numbering.
  [[nodiscard]] Place find(uint64_t address);

  // The file's build id in hexadecimal digits; empty: it has none, or is not an ELF file.
  [[nodiscard]] std::string build_id() const;
  // The functions with these names (as find() returns them) that occur exactly once in the file. Operators and lambdas are not found.
  [[nodiscard]] std::map<std::string, FunctionRange> find_functions(const std::set<std::string>& names);

 private:
  struct Symbols;
  [[nodiscard]] Identity compare(const std::string& path, const std::string& build_id, int64_t recorded_ns) const;

  std::unique_ptr<Symbols> symbols_;
  Identity identity_ = Identity::kMissing;
};

}  // namespace mlrun::symbols
