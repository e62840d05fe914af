// SPDX-License-Identifier: Apache-2.0
#include "runner/symbols/allocator_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>

#include <memory>
#include <string_view>

#include "runner/util/unique_fd.h"

namespace mlrun::symbols {

namespace {

// CPython 3.13 contains mimalloc, but uses it only on request.
constexpr std::string_view kUnusedMimalloc = "_PyMem_MiMalloc";

// The allocator that has this function, under any prefix it was built with, as in je_arrow_mallocx and duckdb_je_mallocx. "": none.
std::string_view allocator_of(std::string_view function) {
  if (function.ends_with("mallocx") || function.ends_with("rallocx")) return "jemalloc";
  if (function == "mi_malloc" || function == "mi_heap_malloc" || function == "_mi_malloc_generic") return "mimalloc";
  if (function == "tc_malloc" || function == "TCMallocInternalMalloc") return "tcmalloc";
  const bool jemalloc =
      function.starts_with("je_") || function.find("_je_") != std::string_view::npos || function.starts_with("_rjem_");
  return jemalloc && function.ends_with("malloc") ? "jemalloc" : "";
}

bool is_operator_new(std::string_view function) { return function.starts_with("_Znw") || function.starts_with("_Zna"); }

struct Scan {
  AllocatorSymbols found;
  bool unused_mimalloc = false;

  void add(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    const size_t count = data && header.sh_entsize != 0 ? header.sh_size / header.sh_entsize : 0;
    for (size_t i = 0; i < count && i < INT32_MAX; ++i) {
      GElf_Sym symbol{};
      if (!gelf_getsym(data, static_cast<int>(i), &symbol)) return;
      const char* text = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (text) add(symbol, text);
    }
  }

  void add(const GElf_Sym& symbol, std::string_view name) {
    name = name.substr(0, name.find('@'));
    if (symbol.st_shndx == SHN_UNDEF) {
      found.calls_new |= is_operator_new(name);
    } else if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC) {
      unused_mimalloc |= name == kUnusedMimalloc;
      if (const auto allocator = allocator_of(name); !allocator.empty()) found.own.emplace(allocator);
    }
  }
};

}  // namespace

AllocatorSymbols read_allocator_symbols(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const util::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0 || elf_version(EV_CURRENT) == EV_NONE) return {};
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr), elf_end);
  Scan scan;
  if (!elf) return {};
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr;
       section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header{};
    const bool good = gelf_getshdr(section, &header) != nullptr;
    if (good && (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)) scan.add(elf.get(), section, header);
  }
  if (scan.unused_mimalloc) scan.found.own.erase("mimalloc");
  return std::move(scan.found);
}

}  // namespace mlrun::symbols
