// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/interpreter_file.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "runner/util/unique_fd.h"

namespace mlrun::python {

namespace {

constexpr uint64_t kTableBytesMax = uint64_t{64} << 20;
constexpr size_t kHeadersMax = 1024;

class ElfReader {
 public:
  explicit ElfReader(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

  InterpreterFile read(bool thorough) {
    InterpreterFile found;
    const auto heads = array<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
    if (heads.empty() || std::memcmp(heads[0].e_ident, ELFMAG, SELFMAG) != 0) return found;
    const Elf64_Ehdr& head = heads[0];
    const bool fits = head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof(Elf64_Phdr) &&
                      head.e_shentsize == sizeof(Elf64_Shdr) && head.e_phnum <= kHeadersMax &&
                      head.e_shnum <= kHeadersMax;
    if (!fits) return found;
    for (const Elf64_Phdr& segment : array<Elf64_Phdr>(head.e_phoff, head.e_phnum * sizeof(Elf64_Phdr))) {
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
        found.code.push_back({segment.p_offset, segment.p_vaddr});
      }
    }
    const auto sections = array<Elf64_Shdr>(head.e_shoff, head.e_shnum * sizeof(Elf64_Shdr));
    for (const uint32_t type : {SHT_DYNSYM, SHT_SYMTAB}) {
      if (type == SHT_SYMTAB && (found.is_python() || !thorough)) break;
      for (const Elf64_Shdr& section : sections) {
        if (section.sh_type != type || section.sh_link >= sections.size()) continue;
        take_symbols(section, sections[section.sh_link], found);
        break;  // a file has at most one section of each type
      }
    }
    return found;
  }

 private:
  template <typename T>
  std::vector<T> array(uint64_t offset, uint64_t bytes) const {
    std::vector<T> items;
    if (bytes > kTableBytesMax) return items;
    items.resize(bytes / sizeof(T));
    const size_t wanted = items.size() * sizeof(T);
    const ssize_t got = ::pread(fd_.get(), items.data(), wanted, static_cast<off_t>(offset));
    if (got != static_cast<ssize_t>(wanted)) items.clear();
    return items;
  }

  void take_symbols(const Elf64_Shdr& table, const Elf64_Shdr& strings, InterpreterFile& found) const {
    const std::pair<std::string_view, uint64_t*> wanted[] = {{"_PyRuntime", &found.runtime},
                                                             {"Py_Version", &found.version},
                                                             {"PyCode_Type", &found.code_type},
                                                             {"PyUnicode_Type", &found.text_type},
                                                             {"PyBytes_Type", &found.bytes_type},
                                                             {"PyRangeIter_Type", &found.loop_types.range},
                                                             {"PyEnum_Type", &found.loop_types.enumerate},
                                                             {"PyListIter_Type", &found.loop_types.list},
                                                             {"PyTupleIter_Type", &found.loop_types.tuple},
                                                             {"PyGen_Type", &found.loop_types.generator},
                                                             {"PyZip_Type", &found.loop_types.zip},
                                                             {"PyMap_Type", &found.loop_types.map}};
    const auto names = array<char>(strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol : array<Elf64_Sym>(table.sh_offset, table.sh_size)) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
      const char* name = names.data() + symbol.st_name;
      constexpr size_t kLongest = sizeof "PyTupleIter_Type";  // longer names cannot match
      const std::string_view text(name, ::strnlen(name, std::min(names.size() - symbol.st_name, kLongest)));
      for (const auto& [wanted_name, address] : wanted) {
        if (text == wanted_name) *address = symbol.st_value;
      }
    }
  }

  util::UniqueFd fd_;
};

}  // namespace

uint64_t InterpreterFile::bias(uint64_t mapping_start, uint64_t file_offset, bool& found) const {
  constexpr uint64_t kPage = 4096;
  for (const Segment& segment : code) {
    found = file_offset == segment.offset / kPage * kPage;
    if (found) return mapping_start - segment.address / kPage * kPage;
  }
  return 0;
}

InterpreterFile read_interpreter_file(const std::string& path, bool thorough) { return ElfReader(path).read(thorough); }

}  // namespace mlrun::python
