// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/program_file.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "runner/util/text.h"

namespace mlrun::launch {

namespace {

constexpr int kScriptsInARow = 5;
constexpr size_t kHeadersMax = 64, kDynamicEntriesMax = 512, kTextBytes = 256;

template <typename T>
std::vector<T> read_array(std::ifstream& file, uint64_t offset, size_t count) {
  std::vector<T> items(count);
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(items.data()), static_cast<std::streamsize>(count * sizeof(T)));
  items.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)) / sizeof(T));
  return items;
}

std::string read_text(std::ifstream& file, uint64_t offset) {
  const std::vector<char> bytes = read_array<char>(file, offset, kTextBytes);
  return {bytes.begin(), std::find(bytes.begin(), bytes.end(), '\0')};
}

// Compilers link the runtime as the first needed library.
std::string find_runtime(std::ifstream& file, const std::vector<Elf64_Phdr>& headers, const Elf64_Phdr& dynamic) {
  const auto entries =
      read_array<Elf64_Dyn>(file, dynamic.p_offset, std::min(dynamic.p_filesz / sizeof(Elf64_Dyn), kDynamicEntriesMax));
  uint64_t strings = 0;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_STRTAB) continue;
    for (const Elf64_Phdr& h : headers) {
      const uint64_t within = entry.d_un.d_ptr - h.p_vaddr;
      if (h.p_type == PT_LOAD && within < h.p_filesz) strings = h.p_offset + within;
    }
  }
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_NEEDED || strings == 0) continue;
    if (std::string library = read_text(file, strings + entry.d_un.d_val); is_sanitizer_runtime(library))
      return library;
  }
  return {};
}

ProgramFile judge(std::ifstream& file, const Elf64_Ehdr& elf) {
  if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_machine != EM_X86_64) return {false, {}};
  const auto headers = read_array<Elf64_Phdr>(file, elf.e_phoff, std::min<size_t>(elf.e_phnum, kHeadersMax));
  const auto find = [&](uint32_t type) {
    return std::find_if(headers.begin(), headers.end(), [&](const Elf64_Phdr& h) { return h.p_type == type; });
  };
  const auto interpreter = find(PT_INTERP), dynamic = find(PT_DYNAMIC);
  if (interpreter == headers.end()) return {};
  if (read_text(file, interpreter->p_offset).find("/ld-linux") == std::string::npos) return {false, {}};
  if (dynamic == headers.end()) return {};
  return {true, find_runtime(file, headers, *dynamic)};
}

// The interpreter in a script's first line.
std::optional<std::string> interpreter_of(std::ifstream& file) {
  const std::string line = read_text(file, 0);
  if (!line.starts_with("#!")) return {};
  const auto words = util::split(std::string_view(line).substr(2, line.find('\n') - 2), " \t");
  return words.empty() ? std::nullopt : std::optional<std::string>(words.front());
}

}  // namespace

bool is_sanitizer_runtime(std::string_view name) {
  static constexpr std::array<const char*, 5> kRuntimes = {"libasan.", "libtsan.", "liblsan.", "libhwasan.",
                                                           "libclang_rt."};
  return std::any_of(kRuntimes.begin(), kRuntimes.end(),
                     [&](const char* runtime) { return name.starts_with(runtime); });
}

std::string find_program(const std::string& name, const char* path) {
  const auto is_program = [](const std::string& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return is_program(name) ? name : std::string();
  const char* variable = path != nullptr ? path : std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/bin:/usr/bin";
  for (bool more = true; more;) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder =
        end == 0 ? "." : std::string(folders.substr(0, end));  // an empty entry is the current folder
    if (std::string file = folder + "/" + name; is_program(file)) return file;
    more = end < folders.size();
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

std::string missing_interpreter(const std::string& name, const char* path) {
  std::ifstream file(find_program(name, path), std::ios::binary);
  std::string interpreter = interpreter_of(file).value_or("");
  const auto elf = read_array<Elf64_Ehdr>(file, 0, 1);
  if (!elf.empty() && std::memcmp(elf[0].e_ident, ELFMAG, SELFMAG) == 0 && elf[0].e_ident[EI_CLASS] == ELFCLASS64) {
    for (const Elf64_Phdr& header :
         read_array<Elf64_Phdr>(file, elf[0].e_phoff, std::min<size_t>(elf[0].e_phnum, kHeadersMax))) {
      if (header.p_type == PT_INTERP) interpreter = read_text(file, header.p_offset);
    }
  }
  return interpreter.empty() || ::access(interpreter.c_str(), F_OK) == 0 ? std::string() : interpreter;
}

ProgramFile look_at_program(const std::string& name) {
  std::string path = name.find('/') == std::string::npos ? find_program(name) : name;
  for (int scripts = 0; scripts < kScriptsInARow; scripts++) {
    std::ifstream file(path, std::ios::binary);
    const auto head = read_array<Elf64_Ehdr>(file, 0, 1);
    if (!head.empty() && std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) == 0) return judge(file, head[0]);
    const auto interpreter = interpreter_of(file);
    if (!interpreter) break;
    path = *interpreter;
  }
  return {};
}

}  // namespace mlrun::launch
