// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "runner/util/unique_fd.h"

namespace mlrun::placement {

namespace {

constexpr size_t kNotesMax = 1 << 16, kProgramHeadersMax = 256;

template <typename Value>
bool read_at(int fd, uint64_t offset, Value& value) {
  return ::pread(fd, &value, sizeof value, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof value);
}

std::string in_notes(std::string_view notes) {
  Elf64_Nhdr note{};
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const size_t name = (size_t{note.n_namesz} + 3) / 4 * 4, bytes = (size_t{note.n_descsz} + 3) / 4 * 4;
    if (notes.size() - sizeof note < name + note.n_descsz) return {};
    const std::string_view what = notes.substr(sizeof note, note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && what == std::string_view(ELF_NOTE_GNU, sizeof ELF_NOTE_GNU)) {
      std::string digits;
      for (const char byte : notes.substr(sizeof note + name, note.n_descsz))
        digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return digits;
    }
    notes.remove_prefix(std::min(notes.size(), sizeof note + name + bytes));
  }
  return {};
}

}  // namespace

std::string build_id_of(const std::string& path) {
  const util::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Elf64_Ehdr head{};
  if (!file.valid() || !read_at(file.get(), 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phnum > kProgramHeadersMax) return {};
  for (unsigned i = 0; i < head.e_phnum; i++) {
    Elf64_Phdr segment{};
    if (!read_at(file.get(), head.e_phoff + uint64_t{i} * head.e_phentsize, segment)) return {};
    if (segment.p_type != PT_NOTE || segment.p_filesz > kNotesMax) continue;
    std::string notes(segment.p_filesz, 0);
    const ssize_t got = ::pread(file.get(), notes.data(), notes.size(), static_cast<off_t>(segment.p_offset));
    if (got <= 0) continue;
    if (std::string id = in_notes(std::string_view(notes).substr(0, static_cast<size_t>(got))); !id.empty()) return id;
  }
  return {};
}

}  // namespace mlrun::placement
