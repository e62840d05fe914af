// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/clean.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include <fmt/format.h>

#include "runner/collect/arena_place.h"
#include "runner/collect/mapped_arena.h"
#include "runner/collect/recovery.h"
#include "runner/model/run.h"
#include "runner/session/session_file.h"
#include "runner/util/text.h"

namespace mlrun::commands {

namespace {

std::vector<std::string> arena_files() {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(collect::kSharedMemoryFolder), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (collect::is_arena_name(name)) names.push_back(std::string(collect::kSharedMemoryFolder) + "/" + name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The trace folder whose session still needs this arena; empty: none.
std::string waiting_folder(const std::string& path) {
  const auto arena = collect::Arena::open(path);
  if (!arena) return {};
  const std::string folder = arena->trace_folder();
  const auto session = session::SessionFile::read(folder);
  if (!session) return {};
  const model::Run run = model::run_of(session->data);
  const bool waits = run.session == collect::session_text(arena->session()) && run.state != "collected";
  return waits ? folder : std::string();
}

void clean_one(const std::string& file, const CleanOptions& options) {
  const util::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  const std::string path = util::printable(file);
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) {
    fmt::print("{}: kept, it cannot be opened\n", path);
    return;
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    fmt::print("{}: in use\n", path);
    return;
  }
  const std::string folder = waiting_folder(file);
  const std::string size = util::size_text(static_cast<uint64_t>(status.st_blocks) * 512);
  if (!folder.empty() && !options.all) {
    fmt::print("{}: kept, {}; it holds the last events of a killed run: mlrun recover {}\n", path, size,
               util::printable(folder));
  } else if (options.dry_run) {
    fmt::print("{}: would be removed, {}\n", path, size);
  } else if (::unlink(file.c_str()) == 0) {
    fmt::print("{}: removed, {}\n", path, size);
  } else {
    fmt::print("{}: cannot be removed: {}\n", path, std::strerror(errno));
  }
}

}  // namespace

Result<int> clean(const Arguments& arguments) {
  const auto options = parse_clean(arguments);
  if (!options) return tl::make_unexpected(options.error());
  if (!*options) return 0;
  const std::vector<std::string> files = arena_files();
  for (const std::string& file : files) clean_one(file, **options);
  if (files.empty()) fmt::print("nothing to clean: no arena in {}\n", collect::kSharedMemoryFolder);
  return 0;
}

}  // namespace mlrun::commands
