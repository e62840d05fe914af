// SPDX-License-Identifier: Apache-2.0
// One library or program file: which function an address belongs to, and which source line where there is debug
// information (in the file, or in a separate one below /usr/lib/debug). Nothing is fetched from anywhere.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace mlrun::symbols {

struct Place {
  std::string function;  // demangled; "": not known
  std::string source;    // as the compiler was given it; "": not known
  int line = 0;
};

// Whether the file is the one that ran.
enum class Identity { kSame, kMissing, kChanged };

class SymbolFile {
 public:
  // build_id: bytes, "" for a file that has none; such a file counts as the same if it has not been modified since
  // `recorded_ns` (CLOCK_REALTIME).
  SymbolFile(const std::string& path, const std::string& build_id, int64_t recorded_ns);
  ~SymbolFile();
  SymbolFile(const SymbolFile&) = delete;
  SymbolFile& operator=(const SymbolFile&) = delete;

  [[nodiscard]] Identity identity() const { return identity_; }

  // Requires: identity() is kSame. `address` as the file's own headers count.
  [[nodiscard]] Place find(uint64_t address);

 private:
  struct Symbols;
  [[nodiscard]] Identity compare(const std::string& path, const std::string& build_id, int64_t recorded_ns) const;

  std::unique_ptr<Symbols> symbols_;
  Identity identity_ = Identity::kMissing;
};

}  // namespace mlrun::symbols
