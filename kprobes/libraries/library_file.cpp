// SPDX-License-Identifier: Apache-2.0
#include "kprobes/libraries/library_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace mlrun::probes {

namespace {

constexpr off_t kFileBytesMax = off_t{1} << 30;
constexpr size_t kSegmentsMax = 256;  // a malicious file may have 65,535, which slows each lookup of an address

// True: a regular file that is not too large to be read; a sparse file can have any size.
bool has_sane_size(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= kFileBytesMax;
}

}  // namespace

Result<LibraryFile> LibraryFile::open(const std::string& path) {
  LibraryFile file;
  file.fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.fd_.valid()) return fail_errno("open it", errno);
  if (!has_sane_size(file.fd_.get())) return fail("it is not a regular file of at most 1 GiB");
  ::elf_version(EV_CURRENT);
  file.elf_.reset(::elf_begin(file.fd_.get(), ELF_C_READ, nullptr));
  GElf_Ehdr header{};
  const bool is_elf = file.elf_ && ::gelf_getehdr(file.elf(), &header) != nullptr;
  if (!is_elf || header.e_machine != EM_X86_64 || header.e_type != ET_DYN)
    return fail("it is not an ELF library for x86-64");
  if (Status read = file.read_segments(); !read) return tl::make_unexpected(read.error());
  return file;
}

Status LibraryFile::read_segments() {
  size_t count = 0;
  if (::elf_getphdrnum(elf(), &count) != 0 || count > kSegmentsMax) return fail("its ELF file has too many segments");
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr segment{};
    const bool is_loaded = ::gelf_getphdr(elf(), static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_LOAD;
    if (is_loaded) segments_.push_back(segment);
  }
  return {};
}

std::optional<uint64_t> LibraryFile::offset_of(uint64_t address, uint32_t needed, uint32_t excluded) const {
  for (const GElf_Phdr& segment : segments_) {
    const bool is_such = (segment.p_flags & needed) == needed && (segment.p_flags & excluded) == 0;
    if (!is_such || address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) continue;
    return address - segment.p_vaddr + segment.p_offset;
  }
  return std::nullopt;
}

std::optional<uint64_t> LibraryFile::code_at(uint64_t address) const { return offset_of(address, PF_X, 0); }
std::optional<uint64_t> LibraryFile::data_at(uint64_t address) const { return offset_of(address, PF_W, PF_X); }

std::optional<uint8_t> LibraryFile::byte_at(uint64_t offset) const {
  uint8_t byte = 0;
  if (offset > static_cast<uint64_t>(kFileBytesMax)) return std::nullopt;
  if (::pread(fd_.get(), &byte, sizeof byte, static_cast<off_t>(offset)) != sizeof byte) return std::nullopt;
  return byte;
}

Elf_Scn* LibraryFile::section(uint32_t type, std::string_view name, GElf_Shdr& header) const {
  size_t names = 0;
  Elf_Scn* names_section = ::elf_getshdrstrndx(elf(), &names) == 0 ? ::elf_getscn(elf(), names) : nullptr;
  GElf_Shdr of_names{};
  const bool has_names = names_section != nullptr && ::gelf_getshdr(names_section, &of_names) != nullptr &&
                         of_names.sh_size <= kSectionBytesMax;
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf(), section)) != nullptr) {
    if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != type) continue;
    if (name.empty()) return section;
    const char* its_name = has_names ? ::elf_strptr(elf(), names, header.sh_name) : nullptr;
    if (its_name != nullptr && name == its_name) return section;
  }
  return nullptr;
}

}  // namespace mlrun::probes
