// SPDX-License-Identifier: Apache-2.0
// Reads the parts of a shared library's ELF file that probes need. The file is not trusted: sizes are bounded, and it
// is read and not mapped, since it may be truncated meanwhile.
#pragma once

#include <gelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {

// Larger sections are not read.
inline constexpr uint64_t kSectionBytesMax = uint64_t{64} << 20;

class LibraryFile {
 public:
  // Fails if the file is no library for this machine.
  static Result<LibraryFile> open(const std::string& path);

  [[nodiscard]] Elf* elf() const { return elf_.get(); }

  // The file offset of code, or of writable data, at that virtual address; nullopt: there is none.
  [[nodiscard]] std::optional<uint64_t> code_at(uint64_t address) const;
  [[nodiscard]] std::optional<uint64_t> data_at(uint64_t address) const;

  // The byte at that file offset; nullopt: the file is shorter.
  [[nodiscard]] std::optional<uint8_t> byte_at(uint64_t offset) const;

  // The first section of that type, and of that name if one is given; nullptr: there is none, or it cannot be read.
  [[nodiscard]] Elf_Scn* section(uint32_t type, std::string_view name, GElf_Shdr& header) const;

 private:
  struct ElfDeleter {
    void operator()(Elf* elf) const { ::elf_end(elf); }
  };
  [[nodiscard]] std::optional<uint64_t> offset_of(uint64_t address, uint32_t needed, uint32_t excluded) const;

  Status read_segments();

  util::UniqueFd fd_;  // declared first: elf_ reads from it until it is destroyed
  std::unique_ptr<Elf, ElfDeleter> elf_;
  std::vector<GElf_Phdr> segments_;  // loaded segments
};

}  // namespace mlrun::probes
