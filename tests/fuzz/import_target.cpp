// SPDX-License-Identifier: Apache-2.0
// The fuzz target of one reader of `mlrun import`, whose name is in MLRUN_FUZZ_READER: reads the input as a file, or as an archive of files. The
// books must be in order: events = kept + left out. One input in 64 becomes a whole trace.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "runner/exchange/front/readers.h"
#include "runner/exchange/import/archive.h"
#include "runner/util/unique_fd.h"

namespace {

namespace exchange = mlrun::exchange;

constexpr uint64_t kInputsPerTrace = 64;
constexpr size_t kFilesMax = 8;

const exchange::Reader& reader() {
  static const exchange::Reader& found = []() -> const exchange::Reader& {
    const char* name = std::getenv("MLRUN_FUZZ_READER");
    for (const exchange::Reader& one : exchange::all_readers()) {
      if (name != nullptr && std::string_view(one.name) == name) return one;
    }
    std::fprintf(stderr, "MLRUN_FUZZ_READER: a name of mlrun import --help\n");
    std::exit(2);
  }();
  return found;
}

void check_books(const exchange::FileAccount& file) {
  int64_t sum = 0;
  for (const auto& [table, kept] : file.kept) sum += kept.events;
  for (const auto& [reason, count] : file.left_out) sum += count;
  if (sum != file.events) std::abort();
}

// As `mlrun import` does. False: a file was refused.
bool read_all(const std::string& path, exchange::TraceMaker& maker) {
  auto files = exchange::files_of(path);
  if (!files) return false;
  files->resize(std::min(files->size(), kFilesMax));
  for (const std::string& one : *files) {
    maker.begin_file(one, reader().name);
    const mlrun::Status read = reader().read(one, maker);
    check_books(maker.file());
    if (!read) return false;
  }
  return true;
}

uint64_t hash_of(const uint8_t* data, size_t size) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(data), size});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string folder =
      std::filesystem::temp_directory_path() / ("mlrun-import-fuzz-" + std::to_string(::getpid()));
  const mlrun::util::UniqueFd file(::memfd_create("input", MFD_CLOEXEC));
  if (!file.valid() || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  std::filesystem::create_directories(folder);
  {
    auto maker = exchange::TraceMaker::create(folder, false);
    if (!maker) std::abort();
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    const bool is_read = read_all(path, **maker);
    if (is_read && hash_of(data, size) % kInputsPerTrace == 0) static_cast<void>((*maker)->finish({"fuzz"}));
  }
  std::filesystem::remove_all(folder);
  return 0;
}
