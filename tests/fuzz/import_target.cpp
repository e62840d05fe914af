// SPDX-License-Identifier: Apache-2.0
// The fuzz target of one reader of `mlrun import`, whose name is in MLRUN_FUZZ_READER: reads the input as a file, or as an archive of files. The
// books must be in order: events = kept + left out. One input in 64 becomes a whole trace. Of readers that use another program or several files:
//   darshan   the input is what Darshan's Python package prints
//   otf2      the input is an archive, its files one behind the other: "NAME SIZE", a line break, and so many bytes
//   mlrun     the input is a database as mlrun export writes it
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "runner/exchange/front/readers.h"
#include "runner/exchange/import/archive.h"
#include "runner/exchange/import/darshan.h"
#include "runner/exchange/sqlite_restore.h"
#include "tests/fuzz/accepted.h"

namespace {

namespace exchange = mlrun::exchange;

constexpr uint64_t kInputsPerTrace = 64;
constexpr size_t kFilesMax = 8;

namespace fs = std::filesystem;

bool accepted = false;

constexpr exchange::Reader kDatabase = {"mlrun", "", nullptr, nullptr};

const exchange::Reader& reader() {
  static const exchange::Reader& found = []() -> const exchange::Reader& {
    const char* name = std::getenv("MLRUN_FUZZ_READER");
    if (name != nullptr && std::string_view(name) == kDatabase.name) return kDatabase;
    for (const exchange::Reader& one : exchange::all_readers()) {
      if (name != nullptr && std::string_view(one.name) == name) return one;
    }
    std::fprintf(stderr, "MLRUN_FUZZ_READER: mlrun, or a name of mlrun import --help\n");
    std::exit(2);
  }();
  return found;
}

bool reads(std::string_view name) { return reader().name == name; }

void check_books(const exchange::FileAccount& file) {
  int64_t sum = 0;
  for (const auto& [table, kept] : file.kept) sum += kept.events;
  accepted = accepted || sum > 0;
  for (const auto& [reason, count] : file.left_out) sum += count;
  if (sum != file.events) std::abort();
}

// Writes the files of an OTF2 archive. Names that no archive has are left out.
void write_archive(std::string_view input, const fs::path& folder) {
  fs::create_directories(folder / "traces");
  while (!input.empty()) {
    const size_t line = std::min(input.find('\n'), input.size() - 1);
    const std::string head(input.substr(0, line));
    input.remove_prefix(line + 1);
    const size_t space = std::min(head.find(' '), head.size());
    const std::string name = head.substr(0, space);
    const size_t size = std::min<size_t>(std::strtoul(head.c_str() + space, nullptr, 10), input.size());
    const bool is_local =
        name.size() == 12 && name.starts_with("traces/") && (name.ends_with(".def") || name.ends_with(".evt"));
    if (is_local || name == "traces.otf2" || name == "traces.def")
      std::ofstream(folder / name, std::ios::binary) << input.substr(0, size);
    input.remove_prefix(size);
  }
}

mlrun::Status read_one(const std::string& path, exchange::TraceMaker& maker) {
  if (!reads("darshan")) return reader().read(path, maker);
  auto input = exchange::Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  return exchange::read_darshan_text(**input, path, maker);
}

// As `mlrun import` does. False: a file was refused.
bool read_all(const std::string& path, exchange::TraceMaker& maker) {
  auto files = exchange::files_of(path);
  if (!files) return false;
  files->resize(std::min(files->size(), kFilesMax));
  for (const std::string& one : *files) {
    maker.begin_file(one, reader().name);
    const mlrun::Status read = read_one(one, maker);
    check_books(maker.file());
    if (!read) return false;
  }
  return true;
}

uint64_t hash_of(const uint8_t* data, size_t size) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(data), size});
}

}  // namespace

bool mlrun::testing::was_accepted() { return accepted; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string folder = fs::temp_directory_path() / ("mlrun-import-fuzz-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  // SQLite opens no file without a name.
  std::string path = folder + "/input";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const std::string made = folder + "/made", archive = folder + "/archive";
  fs::create_directories(made);
  accepted = false;
  if (reads("mlrun")) {
    fs::create_directories(made + "/tables");
    accepted = exchange::is_own_database(path) && exchange::restore_trace(path, made);
  } else {
    auto maker = exchange::TraceMaker::create(made, false);
    if (!maker) std::abort();
    if (reads("otf2")) {
      write_archive({reinterpret_cast<const char*>(data), size}, archive);
      path = archive + "/traces.otf2";
    }
    const bool is_read = read_all(path, **maker);
    accepted = accepted && is_read;
    if (is_read && hash_of(data, size) % kInputsPerTrace == 0) static_cast<void>((*maker)->finish({"fuzz"}));
  }
  fs::remove_all(folder);
  return 0;
}
