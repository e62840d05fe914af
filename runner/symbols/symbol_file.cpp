// SPDX-License-Identifier: Apache-2.0
#include "runner/symbols/symbol_file.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runner/symbols/demangle.h"

namespace mlrun::symbols {

namespace {

const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                   .find_debuginfo = dwfl_standard_find_debuginfo,
                                   .section_address = dwfl_offline_section_address,
                                   .debuginfo_path = nullptr};

// A function's own name, without namespace, class, template arguments and parameters: the mangled name contains it
// unchanged. Empty for an operator or a lambda.
std::string_view plain_name(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  int depth = 0;
  size_t begin = 0, end = name.size();
  for (size_t i = 0; i < name.size(); i++) {
    if (name[i] == '<' && depth++ == 0) end = i;
    if (name[i] == '>' && i > 0 && name[i - 1] != '-') depth--;
    if (depth != 0) continue;
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (name[i] == '(') {
      if (name[i > 0 ? i - 1 : 0] != '>') end = i;
      break;
    }
    if (name[i] == ':' || name[i] == ' ') {
      begin = i + 1;
      end = name.size();
    }
  }
  const std::string_view plain = begin < end ? name.substr(begin, end - begin) : std::string_view();
  return plain.starts_with("operator") || plain.starts_with('{') ? std::string_view() : plain;
}

}  // namespace

struct SymbolFile::Symbols {
  struct Symbol {
    uint64_t start = 0, bytes = 0;
    const char* name = nullptr;
  };

  std::unique_ptr<Dwfl, void (*)(Dwfl*)> session{dwfl_begin(&kCallbacks), dwfl_end};
  Dwfl_Module* module = nullptr;
  std::vector<Symbol> functions;  // by start
  bool loaded = false;

  // Addresses are the file's own: it is treated as loaded at 0.
  explicit Symbols(const std::string& path) {
    if (!session) return;
    dwfl_report_begin(session.get());
    module = dwfl_report_elf(session.get(), "file", path.c_str(), -1, 0, true);
    dwfl_report_end(session.get(), nullptr, nullptr);
    GElf_Addr bias = 0;
    if (module && !dwfl_module_getelf(module, &bias)) module = nullptr;
  }

  void load() {
    loaded = true;
    const int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; ++i) {
      GElf_Sym symbol{};
      GElf_Addr address = 0;
      const char* name = dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
      const auto type = GELF_ST_TYPE(symbol.st_info);
      const bool is_function = (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
      if (name && *name != 0 && is_function) functions.push_back({address, symbol.st_size, name});
    }
    std::stable_sort(functions.begin(), functions.end(),
                     [](const Symbol& a, const Symbol& b) { return a.start < b.start; });
  }

  // The build id as bytes.
  [[nodiscard]] std::string build_id() const {
    const unsigned char* bits = nullptr;
    GElf_Addr address = 0;
    const int length = module == nullptr ? 0 : dwfl_module_build_id(module, &bits, &address);
    return {reinterpret_cast<const char*>(bits), length > 0 ? static_cast<size_t>(length) : 0};
  }

  // The innermost function that contains the address. A function without a size extends to the next one.
  [[nodiscard]] const char* function_at(uint64_t address) const {
    constexpr int kNestedMax = 16;
    auto at = std::upper_bound(functions.begin(), functions.end(), address,
                               [](uint64_t value, const Symbol& symbol) { return value < symbol.start; });
    for (int i = 0; at != functions.begin() && i < kNestedMax; ++i) {
      --at;
      if (address - at->start < at->bytes || (at->bytes == 0 && i == 0)) return at->name;
    }
    return nullptr;
  }
};

SymbolFile::SymbolFile(const std::string& path, const std::string& build_id, int64_t recorded_ns) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  symbols_ = std::make_unique<Symbols>(path);
  identity_ = symbols_->module ? compare(path, build_id, recorded_ns) : Identity::kChanged;
}

SymbolFile::~SymbolFile() = default;

Identity SymbolFile::compare(const std::string& path, const std::string& build_id, int64_t recorded_ns) const {
  const std::string found = symbols_->build_id();
  if (!build_id.empty()) return found.starts_with(build_id) ? Identity::kSame : Identity::kChanged;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return Identity::kMissing;
  const int64_t modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  return found.empty() && modified_ns <= recorded_ns ? Identity::kSame : Identity::kChanged;
}

Place SymbolFile::find(uint64_t address) {
  Place place;
  if (!symbols_->loaded) symbols_->load();
  if (const char* symbol = symbols_->function_at(address)) {
    const std::string_view name(symbol);
    place.function = demangled(name.substr(0, name.find('@')));  // cuts the symbol version
  }
  Dwfl_Line* line = dwfl_module_getsrc(symbols_->module, address);
  int number = 0;
  const char* source = line ? dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr) : nullptr;
  if (source && number > 0) {
    place.source = source;
    place.line = number;
  }
  return place;
}

std::string SymbolFile::build_id() const {
  std::string digits;
  if (symbols_ == nullptr) return digits;
  for (const char byte : symbols_->build_id()) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::map<std::string, FunctionRange> SymbolFile::find_functions(const std::set<std::string>& names) {
  std::map<std::string, FunctionRange> found;
  if (symbols_ == nullptr || symbols_->module == nullptr) return found;
  if (!symbols_->loaded) symbols_->load();
  // Only names that contain one of the wanted names are demangled.
  std::set<std::string_view> plain;
  for (const std::string& name : names) plain.insert(plain_name(name));
  plain.erase(std::string_view());
  std::set<std::string> twice;
  for (auto at = symbols_->functions.begin(); at != symbols_->functions.end(); ++at) {
    const std::string_view raw = std::string_view(at->name).substr(0, std::string_view(at->name).find('@'));
    const bool may_be = std::any_of(plain.begin(), plain.end(),
                                    [&](std::string_view one) { return raw.find(one) != std::string_view::npos; });
    if (!may_be) continue;
    const std::string name = demangled(raw);
    if (names.count(name) == 0) continue;
    const auto next = std::find_if(at, symbols_->functions.end(),
                                   [&](const Symbols::Symbol& other) { return other.start > at->start; });
    const uint64_t end = at->bytes != 0                      ? at->start + at->bytes
                         : next == symbols_->functions.end() ? at->start + 1
                                                             : next->start;
    const auto [same, is_new] = found.try_emplace(name, FunctionRange{at->start, end});
    if (!is_new && same->second.start != at->start) twice.insert(name);
  }
  for (const std::string& name : twice) found.erase(name);
  return found;
}

}  // namespace mlrun::symbols
