// SPDX-License-Identifier: Apache-2.0
#include "kprobes/probed_library.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/util/unique_fd.h"

namespace mlrun::probes {

namespace {

constexpr size_t kSymbolsMax = 1 << 20;
constexpr off_t kFileBytesMax = off_t{1} << 30;
constexpr uint64_t kSectionBytesMax = uint64_t{64} << 20;
constexpr int kEveryProcess = -1;

struct ElfDeleter {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};
using ElfFile = std::unique_ptr<Elf, ElfDeleter>;

// Where in the file the code of that address is.
std::optional<uint64_t> file_offset(Elf* elf, uint64_t address) {
  size_t count = 0;
  if (::elf_getphdrnum(elf, &count) != 0) return std::nullopt;
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr segment{};
    if (::gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) continue;
    const bool is_code = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0;
    if (!is_code || address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) continue;
    return address - segment.p_vaddr + segment.p_offset;
  }
  return std::nullopt;
}

Elf_Scn* dynamic_symbols(Elf* elf, GElf_Shdr& header) {
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf, section)) != nullptr) {
    if (::gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_DYNSYM) return section;
  }
  return nullptr;
}

const LibraryCall* call_named(std::string_view name, const std::vector<LibraryCall>& calls) {
  const auto call =
      std::find_if(calls.begin(), calls.end(), [&](const LibraryCall& candidate) { return candidate.name == name; });
  return call == calls.end() ? nullptr : &*call;
}

// Read and not mapped: the file may become shorter meanwhile.
ElfFile open_elf(int fd) {
  ::elf_version(EV_CURRENT);
  ElfFile elf(::elf_begin(fd, ELF_C_READ, nullptr));
  GElf_Ehdr header{};
  if (!elf || ::gelf_getehdr(elf.get(), &header) == nullptr) return nullptr;
  return header.e_machine == EM_X86_64 && header.e_type == ET_DYN ? std::move(elf) : nullptr;
}

// What is claimed to be larger is not read: a sparse file can claim anything.
bool has_sane_size(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= kFileBytesMax;
}

bool has_sane_names(Elf* elf, size_t section) {
  GElf_Shdr header{};
  Elf_Scn* names = ::elf_getscn(elf, section);
  return names != nullptr && ::gelf_getshdr(names, &header) != nullptr && header.sh_size <= kSectionBytesMax;
}

}  // namespace

Result<std::vector<LibrarySymbol>> library_symbols(const std::string& path, const std::vector<LibraryCall>& calls) {
  const util::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return fail_errno("read it", errno);
  if (!has_sane_size(fd.get())) return fail("it is no file, or larger than a library is");
  const ElfFile elf = open_elf(fd.get());
  if (!elf) return fail("it is no library for x86-64");
  GElf_Shdr header{};
  Elf_Scn* section = dynamic_symbols(elf.get(), header);
  const bool is_sane =
      section != nullptr && header.sh_size <= kSectionBytesMax && has_sane_names(elf.get(), header.sh_link);
  Elf_Data* data = is_sane ? ::elf_getdata(section, nullptr) : nullptr;
  if (data == nullptr || header.sh_entsize == 0) return fail("its symbols cannot be read");
  std::map<uint64_t, LibrarySymbol> by_offset;
  const size_t count = std::min<size_t>(data->d_size / header.sh_entsize, kSymbolsMax);
  for (size_t i = 0; i < count; i++) {
    GElf_Sym symbol{};
    if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const char* name = ::elf_strptr(elf.get(), header.sh_link, symbol.st_name);
    const LibraryCall* call = name != nullptr ? call_named(name, calls) : nullptr;
    const auto offset = call != nullptr ? file_offset(elf.get(), symbol.st_value) : std::nullopt;
    if (offset) by_offset.try_emplace(*offset, LibrarySymbol{call, *offset});
  }
  std::vector<LibrarySymbol> symbols;
  symbols.reserve(by_offset.size());
  for (const auto& [offset, symbol] : by_offset) symbols.push_back(symbol);
  if (symbols.empty()) return fail("it exports none of the calls");
  return symbols;
}

void ProbedLibrary::LinkDeleter::operator()(bpf_link* link) const { ::bpf_link__destroy(link); }

ProbedLibrary::Link ProbedLibrary::attach(bpf_program* program, const std::string& path, uint32_t pid,
                                          const LibrarySymbol& symbol, bool at_return) {
  bpf_uprobe_opts options{};
  options.sz = sizeof options;
  options.bpf_cookie = symbol.call->cookie;
  options.retprobe = at_return;
  const pid_t whose = pid != 0 ? static_cast<pid_t>(pid) : kEveryProcess;
  return Link(::bpf_program__attach_uprobe_opts(program, whose, path.c_str(), symbol.offset, &options));
}

// The return comes first: a call that is told of only at its beginning would never end.
Result<ProbedLibrary> ProbedLibrary::attach(const FollowedLibrary& library, const std::string& path, uint32_t pid,
                                            const std::set<uint16_t>& without, const std::function<void()>& between) {
  const auto symbols = library_symbols(path, library.calls);
  if (!symbols) return tl::make_unexpected(symbols.error());
  ProbedLibrary probed;
  for (const LibrarySymbol& symbol : *symbols) {
    const uint16_t number = symbol.call->number;
    if (without.contains(number)) continue;
    between();
    Probe probe{number, nullptr, attach(library.programs.returned, path, pid, symbol, true)};
    if (probe.returned) probe.call = attach(library.programs.call, path, pid, symbol, false);
    if (probe.call) {
      probed.probes_.push_back(std::move(probe));
      continue;
    }
    const char* reason = std::strerror(errno);
    if (!probed.missing_.empty()) continue;
    probed.missing_ = fmt::format("cannot probe {}: {}", symbol.call->name, reason);
  }
  if (probed.probes_.empty()) return fail(probed.missing_);
  return probed;
}

void ProbedLibrary::let_go(uint16_t number, std::vector<Link>& leaving) {
  for (Probe& probe : probes_) {
    if (probe.number != number) continue;
    leaving.push_back(std::move(probe.returned));
    leaving.push_back(std::move(probe.call));  // the last one goes first
  }
  std::erase_if(probes_, [&](const Probe& probe) { return probe.number == number; });
}

void ProbedLibrary::let_all_go(std::vector<Link>& leaving) {
  for (Probe& probe : probes_) {
    leaving.push_back(std::move(probe.returned));
    leaving.push_back(std::move(probe.call));
  }
  probes_.clear();
}

}  // namespace mlrun::probes
