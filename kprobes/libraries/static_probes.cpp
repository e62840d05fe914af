// SPDX-License-Identifier: Apache-2.0
#include "kprobes/libraries/static_probes.h"

#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "kprobes/libraries/library_file.h"
#include "kprobes/libraries/probe_arguments.h"
#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

constexpr uint32_t kProbeNote = 3;
constexpr std::string_view kOwner = "stapsdt", kSection = ".note.stapsdt";
constexpr size_t kNotesMax = 1 << 16, kNoteBytesMax = 1 << 10, kProbesMax = 8;
constexpr uint8_t kNop = 0x90;
constexpr uint64_t kSemaphoreAlignment = 2;
constexpr uint64_t kSemaphoreOffsetMax = UINT32_MAX;  // the limit of perf_event_open

// A note in the ELF file on one probe: three addresses, then three texts that each end in a zero byte.
struct Note {
  struct Addresses {
    uint64_t place, base, semaphore;
  } addresses{};
  std::string_view provider, name, arguments;
};

std::optional<std::string_view> take_text(std::string_view& rest) {
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return text;
}

std::optional<Note> read_note(std::string_view bytes) {
  Note note;
  if (bytes.size() < sizeof note.addresses || bytes.size() > kNoteBytesMax) return std::nullopt;
  std::memcpy(&note.addresses, bytes.data(), sizeof note.addresses);
  bytes.remove_prefix(sizeof note.addresses);
  for (std::string_view* text : {&note.provider, &note.name, &note.arguments}) {
    const auto taken = take_text(bytes);
    if (!taken) return std::nullopt;
    *text = *taken;
  }
  return note;
}

// The probe that a note describes. Fails with the reason why it cannot be probed.
Result<StaticProbe> probe_of(const LibraryFile& file, const Note& note) {
  StaticProbe probe{std::string(note.name), 0, 0, {}};
  const auto refuse = [&](std::string_view why) {
    return fail(fmt::format("{}:{}: {}", note.provider, util::escaped_utf8(note.name), why));
  };
  const auto place = file.code_at(note.addresses.place);
  if (!place || file.byte_at(*place) != kNop) return refuse("no nop is where its note says that it is");
  probe.offset = *place;
  if (note.addresses.semaphore != 0) {
    const auto semaphore = file.data_at(note.addresses.semaphore);
    if (!semaphore || *semaphore % kSemaphoreAlignment != 0 || *semaphore > kSemaphoreOffsetMax) {
      return refuse(
          "the counter that enables the static probe (its semaphore) is outside the library's writable data or "
          "misaligned");
    }
    probe.semaphore = *semaphore;
  }
  auto arguments = probe_arguments(note.arguments);
  if (!arguments) return refuse(fmt::format("mlrun cannot read arguments at '{}'", util::escaped_utf8(note.arguments)));
  probe.arguments = *std::move(arguments);
  return probe;
}

// Calls `visit` for each note of the section, until it returns false.
template <typename Visit>
void for_each_note(Elf_Data* data, Visit visit) {
  size_t at = 0;
  for (size_t i = 0; i < kNotesMax; i++) {
    GElf_Nhdr header{};
    size_t owner = 0, content = 0;
    const size_t next = ::gelf_getnote(data, at, &header, &owner, &content);
    if (next <= at) return;
    at = next;
    const std::string_view all(static_cast<const char*>(data->d_buf), data->d_size);
    const std::string_view name = all.substr(owner, header.n_namesz);
    const bool is_probe = header.n_type == kProbeNote && name.substr(0, name.find('\0')) == kOwner;
    if (is_probe && !visit(all.substr(content, header.n_descsz))) return;
  }
}

}  // namespace

Result<StaticProbes> static_probes(const std::string& path, std::string_view provider) {
  const auto file = LibraryFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  StaticProbes probes;
  GElf_Shdr header{};
  Elf_Scn* section = file->section(SHT_NOTE, kSection, header);
  if (section == nullptr) return probes;
  Elf_Data* data = header.sh_size <= kSectionBytesMax ? ::elf_getdata(section, nullptr) : nullptr;
  if (data == nullptr || data->d_buf == nullptr) return fail("its notes on static probes cannot be read");
  size_t met = 0;
  for_each_note(data, [&](std::string_view bytes) {
    const auto note = read_note(bytes);
    if (note && note->provider != provider) return true;
    const bool is_one_too_many = met++ == kProbesMax;  // a malicious file may have very many
    Result<StaticProbe> probe = note ? probe_of(*file, *note) : fail("a note on its static probes is damaged");
    if (is_one_too_many) probe = fail("it has too many static probes");
    if (probe)
      probes.found.push_back(*std::move(probe));
    else if (probes.refused.empty())
      probes.refused = probe.error().text;
    return !is_one_too_many;
  });
  return probes;
}

}  // namespace mlrun::probes
