// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/archive.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace mlrun::exchange {

namespace {

constexpr size_t kTarBlock = 512;
constexpr uint64_t kLongestName = 1 << 16, kSizeMax = uint64_t{1} << 50;
constexpr size_t kZipLocalBytes = 30;
constexpr std::string_view kZipEnd = "PK\5\6", kZipEntry = "PK\1\2";

// Reads until `size` bytes are there, or the end.
Result<size_t> read_all(Input& input, char* to, size_t size) {
  size_t done = 0;
  while (done < size) {
    const auto got = input.read(to + done, size - done);
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) break;
    done += *got;
  }
  return done;
}

struct TarHeader {
  std::string name;
  uint64_t size = 0;
  char type = '0';
};

// A number of a tar header: octal digits, or, if it has more than 33 bits, binary.
std::optional<uint64_t> tar_number(std::string_view field) {
  uint64_t number = 0;
  if (!field.empty() && (static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (size_t i = field.size() - 8; i < field.size(); ++i)
      number = number << 8 | static_cast<unsigned char>(field[i]);
    return number;
  }
  const size_t first = field.find_first_not_of(' ');
  if (first == std::string_view::npos || field[first] == '\0') return 0;
  const auto [end, error] = std::from_chars(field.data() + first, field.data() + field.size(), number, 8);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::string_view text_field(std::string_view field) { return field.substr(0, field.find('\0')); }

// Nothing: `block` is no header of a tar archive.
std::optional<TarHeader> tar_header(std::string_view block) {
  if (block.size() < kTarBlock || block.substr(257, 5) != "ustar") return std::nullopt;
  constexpr size_t kSumAt = 148, kSumBytes = 8;
  unsigned sum = kSumBytes * ' ';
  for (size_t i = 0; i < kTarBlock; ++i) {
    if (i < kSumAt || i >= kSumAt + kSumBytes) sum += static_cast<unsigned char>(block[i]);
  }
  const auto size = tar_number(block.substr(124, 12)), expected = tar_number(block.substr(kSumAt, kSumBytes));
  if (!size || !expected || *expected != sum || *size > kSizeMax) return std::nullopt;
  TarHeader header{std::string(text_field(block.substr(0, 100))), *size, block[156]};
  // A POSIX header has the beginning of a long name here; GNU tar, which has a blank in byte 262, has other fields.
  const std::string_view prefix = block[262] == '\0' ? text_field(block.substr(345, 155)) : std::string_view();
  if (!prefix.empty()) header.name = std::string(prefix) + "/" + header.name;
  return header;
}

// The value of `key` in the records "LENGTH KEY=VALUE\n" of a pax header, which extends the next header.
std::optional<std::string> tar_record(std::string_view records, std::string_view key) {
  while (!records.empty()) {
    size_t size = 0;
    const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), size);
    if (error != std::errc() || size == 0 || size > records.size()) return std::nullopt;
    const auto blank = static_cast<size_t>(end - records.data()) + 1;
    const std::string_view record = records.substr(std::min(blank, size), size - std::min(blank, size));
    if (record.starts_with(key) && record.size() > key.size() && record[key.size()] == '=')
      return std::string(record.substr(key.size() + 1, record.size() - key.size() - 2));
    records.remove_prefix(size);
  }
  return std::nullopt;
}

// The files of a tar archive, one after the other.
class Tar {
 public:
  Tar(std::string path, std::unique_ptr<Input> input) : path_(std::move(path)), input_(std::move(input)) {}

  // The next file; nothing at the end.
  Result<std::optional<TarHeader>> next() {
    std::string name;
    std::optional<uint64_t> size;
    for (;;) {
      if (Status skipped = skip(left_ + padding_); !skipped) return tl::make_unexpected(skipped.error());
      std::array<char, kTarBlock> block{};
      const auto got = read_all(*input_, block.data(), block.size());
      if (!got) return tl::make_unexpected(got.error());
      const std::string_view bytes(block.data(), *got);
      if (bytes.find_first_not_of('\0') == std::string_view::npos) return std::optional<TarHeader>();
      auto header = tar_header(bytes);
      if (!header) return bad_input(path_, "a damaged header of the tar archive", offset_);
      offset_ += static_cast<int64_t>(kTarBlock);
      if (!name.empty()) header->name = name;
      if (size) header->size = *size;
      left_ = header->size;
      padding_ = (kTarBlock - left_ % kTarBlock) % kTarBlock;
      if (header->type == '0' || header->type == '\0' || header->type == '7') return header;
      if (header->type != 'L' && header->type != 'x') continue;  // folders, links
      if (header->size > kLongestName) return bad_input(path_, "a damaged header of the tar archive", offset_);
      std::string more(header->size, '\0');
      const auto filled = read(more.data(), more.size());
      if (!filled) return tl::make_unexpected(filled.error());
      if (header->type == 'L') {
        name = text_field(more);
      } else {
        name = tar_record(more, "path").value_or(name);
        if (const auto number = tar_record(more, "size")) size = std::strtoull(number->c_str(), nullptr, 10);
        if (size && *size > kSizeMax) return bad_input(path_, "a damaged header of the tar archive", offset_);
      }
    }
  }
  // Reads the next bytes of the file whose header next() returned last.
  Result<size_t> read(char* to, size_t size) {
    const auto got = read_all(*input_, to, std::min<uint64_t>(size, left_));
    if (!got) return got;
    left_ -= *got;
    offset_ += static_cast<int64_t>(*got);
    is_cut_ = *got == 0 && left_ != 0;
    return got;
  }
  [[nodiscard]] const Input& input() const { return *input_; }
  // The archive ends within the file.
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  Status skip(uint64_t size) {
    std::vector<char> buffer(std::min<uint64_t>(size, 1 << 16));
    offset_ += static_cast<int64_t>(size);
    while (size != 0) {
      const auto got = read_all(*input_, buffer.data(), std::min<uint64_t>(size, buffer.size()));
      if (!got) return tl::make_unexpected(got.error());
      if (*got == 0) break;
      size -= *got;
    }
    left_ = padding_ = 0;
    return {};
  }

  std::string path_;
  std::unique_ptr<Input> input_;
  uint64_t left_ = 0, padding_ = 0;
  int64_t offset_ = 0;
  bool is_cut_ = false;
};

class TarMember : public Input {
 public:
  explicit TarMember(Tar tar) : tar_(std::move(tar)) {
    is_packed_ = true;
    file_size_ = tar_.input().file_size();
  }
  Result<size_t> read(char* to, size_t size) override {
    auto got = tar_.read(to, size);
    file_at_ = tar_.input().file_at();
    is_cut_ = tar_.is_cut();
    return got;
  }

 private:
  Tar tar_;
};

struct ZipEntry {
  std::string name;
  uint64_t packed_bytes = 0, header_at = 0;
  unsigned method = 0;
};

uint64_t zip_number(std::string_view bytes, size_t at, size_t size) {
  uint64_t number = 0;
  for (size_t i = std::min(at + size, bytes.size()); i-- > at;)
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

// Reads the Zip64 field, if the entry has one: it has the numbers for which the entry has all ones.
void widen(std::string_view extra, std::string_view entry, ZipEntry& to) {
  constexpr uint64_t kOnes = UINT32_MAX;
  for (size_t at = 0; at + 4 <= extra.size(); at += 4 + zip_number(extra, at + 2, 2)) {
    if (zip_number(extra, at, 2) != 1) continue;
    size_t from = at + 4;
    if (zip_number(entry, 24, 4) == kOnes) from += 8;
    if (to.packed_bytes == kOnes) to.packed_bytes = zip_number(extra, std::exchange(from, from + 8), 8);
    if (to.header_at == kOnes) to.header_at = zip_number(extra, from, 8);
  }
}

// The files in the directory at the end of a zip archive. Empty: there is no directory, since the end of the archive is missing.
Result<std::vector<ZipEntry>> zip_entries(const std::string& path, const FileInput& file) {
  constexpr uint64_t kTailMax = (1 << 16) + 22, kDirectoryMax = uint64_t{64} << 20;
  constexpr size_t kEndBytes = 22, kEntryBytes = 46;
  std::vector<ZipEntry> entries;
  const auto size = static_cast<uint64_t>(file.file_size());
  const uint64_t tail_at = size - std::min(size, kTailMax);
  const auto tail = file.at(tail_at, size - tail_at);
  if (!tail) return tl::make_unexpected(tail.error());
  const size_t end = tail->rfind(kZipEnd);
  if (end == std::string::npos || end + kEndBytes > tail->size()) return entries;
  const uint64_t directory_at = zip_number(*tail, end + 16, 4), bytes = zip_number(*tail, end + 12, 4);
  if (directory_at == UINT32_MAX || bytes > kDirectoryMax)
    return bad_input(path, "a zip archive of more than 4 GiB or with too many files (unpack it)",
                     static_cast<int64_t>(tail_at + end));
  const auto directory = file.at(directory_at, bytes);
  if (!directory) return tl::make_unexpected(directory.error());
  for (size_t at = 0; at + kEntryBytes <= directory->size();) {
    const std::string_view entry = std::string_view(*directory).substr(at);
    if (!entry.starts_with(kZipEntry))
      return bad_input(path, "a damaged directory of the zip archive", static_cast<int64_t>(directory_at + at));
    const size_t name = zip_number(entry, 28, 2), extra = zip_number(entry, 30, 2), comment = zip_number(entry, 32, 2);
    at += kEntryBytes + name + extra + comment;
    if (at > directory->size())
      return bad_input(path, "a damaged directory of the zip archive", static_cast<int64_t>(directory_at + at));
    ZipEntry one;
    one.name = entry.substr(kEntryBytes, name);
    one.method = static_cast<unsigned>(zip_number(entry, 10, 2));
    one.packed_bytes = zip_number(entry, 20, 4);
    one.header_at = zip_number(entry, 42, 4);
    widen(entry.substr(kEntryBytes + name, extra), entry, one);
    if (!one.name.ends_with('/')) entries.push_back(std::move(one));
  }
  return entries;
}

Result<std::unique_ptr<Input>> open_zip_entry(const std::string& path, std::unique_ptr<FileInput> file,
                                              const ZipEntry& entry) {
  constexpr unsigned kStored = 0, kDeflated = 8;
  const auto local = file->at(entry.header_at, kZipLocalBytes);
  if (!local) return tl::make_unexpected(local.error());
  if (local->size() < kZipLocalBytes || !local->starts_with(kZipMagic))
    return bad_input(path, "a damaged header in the zip archive", static_cast<int64_t>(entry.header_at));
  if (entry.method != kStored && entry.method != kDeflated)
    return bad_input(path, fmt::format("a file packed by zip method {} (unpack it)", entry.method),
                     static_cast<int64_t>(entry.header_at));
  const uint64_t at = entry.header_at + kZipLocalBytes + zip_number(*local, 26, 2) + zip_number(*local, 28, 2);
  file->set_part(at, entry.packed_bytes);
  if (entry.method == kDeflated) return inflated(path, std::move(file), Packing::kDeflate);
  return std::unique_ptr<Input>(std::move(file));
}

// The first header of the tar archive `path`; nothing: it is no tar archive.
Result<std::optional<TarHeader>> first_header(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  std::array<char, kTarBlock> block{};
  const auto got = read_all(**input, block.data(), block.size());
  if (!got) return tl::make_unexpected(got.error());
  return tar_header({block.data(), *got});
}

Result<Tar> open_tar(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  return Tar(path, std::move(*input));
}

}  // namespace

Result<std::unique_ptr<Input>> open_first_of_zip(const std::string& path, std::unique_ptr<FileInput> file) {
  auto entries = zip_entries(path, *file);
  if (!entries) return tl::make_unexpected(entries.error());
  if (!entries->empty()) return open_zip_entry(path, std::move(file), entries->front());
  const auto local = file->at(0, kZipLocalBytes);
  if (!local) return tl::make_unexpected(local.error());
  ZipEntry whole;
  whole.method = static_cast<unsigned>(zip_number(*local, 8, 2));
  whole.packed_bytes = static_cast<uint64_t>(file->file_size());
  return open_zip_entry(path, std::move(file), whole);
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::vector<std::string> files;
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    files.push_back(path + "/" + name);
    return names.insert(name).second;
  };
  const auto is_double = [&] { return fail("cannot import " + path + ": it has two files named " + files.back()); };
  const auto file = FileInput::open(path);
  if (!file) return std::vector<std::string>{path};  // its reader says why
  const auto head = (*file)->at(0, kZipMagic.size());
  if (head && *head == kZipMagic) {
    const auto entries = zip_entries(path, **file);
    if (!entries) return tl::make_unexpected(entries.error());
    if (entries->size() < 2) return std::vector<std::string>{path};
    for (const ZipEntry& entry : *entries) {
      if (!add(entry.name)) return is_double();
    }
    return files;
  }
  const auto first = first_header(path);
  if (!first) return tl::make_unexpected(first.error());
  if (!*first) return std::vector<std::string>{path};
  auto tar = open_tar(path);
  if (!tar) return tl::make_unexpected(tar.error());
  for (;;) {
    auto header = tar->next();
    if (!header) return tl::make_unexpected(header.error());
    if (!*header) break;
    if (!add((*header)->name)) return is_double();
  }
  if (files.empty()) return bad_input(path, "a tar archive without files", 0);
  return files;
}

Result<std::unique_ptr<Input>> open_member(const std::string& archive, const std::string& name) {
  const auto absent = [&] { return fail("cannot import " + archive + "/" + name + ": the archive has no such file"); };
  auto file = FileInput::open(archive);
  if (!file) return tl::make_unexpected(file.error());
  const auto head = (*file)->at(0, kZipMagic.size());
  if (head && *head == kZipMagic) {
    const auto entries = zip_entries(archive, **file);
    if (!entries) return tl::make_unexpected(entries.error());
    for (const ZipEntry& entry : *entries) {
      if (entry.name == name) return open_zip_entry(archive + "/" + name, std::move(*file), entry);
    }
    return absent();
  }
  const auto first = first_header(archive);
  if (!first) return tl::make_unexpected(first.error());
  if (!*first) return absent();
  auto tar = open_tar(archive);
  if (!tar) return tl::make_unexpected(tar.error());
  for (;;) {
    auto header = tar->next();
    if (!header) return tl::make_unexpected(header.error());
    if (!*header) return absent();
    if ((*header)->name == name) return std::make_unique<TarMember>(*std::move(tar));
  }
}

}  // namespace mlrun::exchange
