// SPDX-License-Identifier: Apache-2.0
#include "kprobes/libraries/probed_library.h"

#include <bpf/libbpf.h>
#include <gelf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kprobes/libraries/library_file.h"
#include "kprobes/libraries/static_probes.h"

namespace mlrun::probes {

namespace {

constexpr size_t kSymbolsMax = 1 << 20;
constexpr int kEveryProcess = -1;

const LibraryCall* call_named(std::string_view name, const std::vector<LibraryCall>& calls) {
  const auto call =
      std::find_if(calls.begin(), calls.end(), [&](const LibraryCall& candidate) { return candidate.name == name; });
  return call == calls.end() ? nullptr : &*call;
}

bool has_sane_names(const LibraryFile& file, size_t section) {
  GElf_Shdr header{};
  Elf_Scn* names = ::elf_getscn(file.elf(), section);
  return names != nullptr && ::gelf_getshdr(names, &header) != nullptr && header.sh_size <= kSectionBytesMax;
}

Result<LibrarySymbols> exports(const std::string& path, const std::vector<LibraryCall>& calls) {
  const auto file = LibraryFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  GElf_Shdr header{};
  Elf_Scn* section = file->section(SHT_DYNSYM, {}, header);
  const bool is_sane =
      section != nullptr && header.sh_size <= kSectionBytesMax && has_sane_names(*file, header.sh_link);
  Elf_Data* data = is_sane ? ::elf_getdata(section, nullptr) : nullptr;
  if (data == nullptr || header.sh_entsize == 0) return fail("its ELF symbols cannot be read");
  std::map<uint64_t, LibrarySymbol> by_offset;
  const size_t count = std::min<size_t>(data->d_size / header.sh_entsize, kSymbolsMax);
  for (size_t i = 0; i < count; i++) {
    GElf_Sym symbol{};
    if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const char* name = ::elf_strptr(file->elf(), header.sh_link, symbol.st_name);
    const LibraryCall* call = name != nullptr ? call_named(name, calls) : nullptr;
    const auto offset = call != nullptr ? file->code_at(symbol.st_value) : std::nullopt;
    if (offset) by_offset.try_emplace(*offset, LibrarySymbol{call, *offset, call->cookie, 0});
  }
  LibrarySymbols symbols;
  for (const auto& [offset, symbol] : by_offset) symbols.found.push_back(symbol);
  if (symbols.found.empty()) return fail("it exports none of the functions that mlrun records");
  return symbols;
}

bool has_widths(const std::vector<mlrun_probe_argument>& arguments, const std::vector<uint8_t>& widths) {
  return std::equal(arguments.begin(), arguments.end(), widths.begin(), widths.end(),
                    [](const mlrun_probe_argument& argument, uint8_t width) { return (argument.bytes & width) != 0; });
}

// Stores the argument layout of a static probe and returns its index, which becomes the probe's cookie.
Result<uint64_t> layout_of(const ObservedLibrary& library, const LibraryCall& call, const StaticProbe& probe) {
  if (!has_widths(probe.arguments, call.widths))
    return fail("its arguments differ from those that this version of mlrun knows");
  mlrun_probe_layout layout{};
  layout.probe = call.number;
  layout.count = static_cast<__u32>(probe.arguments.size());
  std::copy(probe.arguments.begin(), probe.arguments.end(), std::begin(layout.arguments));
  return library.programs.layouts->add(layout);
}

Result<LibrarySymbols> probes_of(const ObservedLibrary& library, const std::string& path) {
  auto probes = static_probes(path, library.provider);
  if (!probes) return tl::make_unexpected(probes.error());
  LibrarySymbols symbols;
  symbols.missing = std::move(probes->refused);
  for (const StaticProbe& probe : probes->found) {
    const LibraryCall* call = call_named(probe.name, library.calls);
    if (call == nullptr) continue;
    const auto layout = layout_of(library, *call, probe);
    if (layout)
      symbols.found.push_back({call, probe.offset, *layout, probe.semaphore});
    else if (symbols.missing.empty())
      symbols.missing = fmt::format("{}:{}: {}", library.provider, probe.name, layout.error().text);
  }
  if (symbols.found.empty() && symbols.missing.empty()) {
    return fail(fmt::format("it was built without static probes of {}", library.provider));
  }
  return symbols;
}

}  // namespace

Result<LibrarySymbols> library_symbols(const ObservedLibrary& library, const std::string& path) {
  return library.provider.empty() ? exports(path, library.calls) : probes_of(library, path);
}

Link ProbedLibrary::attach(bpf_program* program, const std::string& path, uint32_t pid, const LibrarySymbol& symbol,
                           bool at_return) {
  bpf_uprobe_opts options{};
  options.sz = sizeof options;
  options.bpf_cookie = symbol.cookie;
  options.ref_ctr_offset = symbol.semaphore;
  options.retprobe = at_return;
  const pid_t whose = pid != 0 ? static_cast<pid_t>(pid) : kEveryProcess;
  return Link(::bpf_program__attach_uprobe_opts(program, whose, path.c_str(), symbol.offset, &options));
}

// Attaches the probe at a function's return before that at its entry: a call must not have an entry without an end.
Result<ProbedLibrary> ProbedLibrary::attach(const ObservedLibrary& library, const std::string& path, uint32_t pid,
                                            const std::set<uint16_t>& without, const std::function<void()>& between) {
  auto symbols = library_symbols(library, path);
  if (!symbols) return tl::make_unexpected(symbols.error());
  ProbedLibrary probed;
  probed.missing_ = std::move(symbols->missing);
  bpf_program* at_return = library.programs.returned;
  for (const LibrarySymbol& symbol : symbols->found) {
    const uint16_t number = symbol.call->number;
    if (without.contains(number)) continue;
    between();
    Probe probe{number, nullptr, nullptr};
    if (at_return != nullptr) probe.returned = attach(at_return, path, pid, symbol, true);
    if (probe.returned || at_return == nullptr) probe.call = attach(library.programs.call, path, pid, symbol, false);
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

void ProbedLibrary::detach(uint16_t number, std::vector<Link>& leaving) {
  for (Probe& probe : probes_) {
    if (probe.number != number) continue;
    if (probe.returned) leaving.push_back(std::move(probe.returned));
    leaving.push_back(std::move(probe.call));  // after `returned`: the last one is released first
  }
  std::erase_if(probes_, [&](const Probe& probe) { return probe.number == number; });
}

void ProbedLibrary::detach_all(std::vector<Link>& leaving) {
  for (Probe& probe : probes_) {
    if (probe.returned) leaving.push_back(std::move(probe.returned));
    leaving.push_back(std::move(probe.call));
  }
  probes_.clear();
}

}  // namespace mlrun::probes
