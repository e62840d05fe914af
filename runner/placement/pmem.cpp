// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/pmem.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

namespace mlrun::placement {

namespace {

constexpr size_t kTriedBytes = 4096, kLeastBytes = 4096;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE; the headers may be older
constexpr const char* kInstead =
    "mount ext4 or XFS with -o dax on persistent memory, or let the kernel use it as memory: --place '-> dax-kmem'";

Result<PmemFolder> parsed(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return PmemFolder{text, 0};
  const auto bytes = util::parse_size(text.substr(colon + 1));
  if (!bytes) return PmemFolder{text, 0};
  if (*bytes < kLeastBytes) return fail(fmt::format("a size below {} bytes places nothing", kLeastBytes));
  return PmemFolder{text.substr(0, colon), *bytes};
}

Status check_folder(PmemFolder& folder) {
  const std::unique_ptr<char, void (*)(void*)> absolute(::realpath(folder.path.c_str(), nullptr), std::free);
  if (!absolute) return fail_errno("use " + folder.path, errno);
  folder.path = absolute.get();
  struct stat status {};
  if (::stat(folder.path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return fail(folder.path + " is no folder; write DIR or DIR:SIZE");
  struct statvfs space {};
  if (::statvfs(folder.path.c_str(), &space) != 0) return fail_errno("ask for the free space of " + folder.path, errno);
  const uint64_t free_bytes = uint64_t{space.f_bavail} * space.f_frsize;
  if (folder.bytes > free_bytes)
    return fail(fmt::format("{} has {} MiB free, and SIZE is {} MiB: give a smaller SIZE", folder.path,
                            free_bytes >> 20, folder.bytes >> 20));
  return {};
}

// Creates and maps a file as the traced processes do.
Status try_file(const std::string& path) {
  const util::UniqueFd file(::open(path.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid() && (errno == EOPNOTSUPP || errno == EISDIR))
    return fail(fmt::format("the file system of {} has no files without a name (O_TMPFILE); {}", path, kInstead));
  if (!file.valid()) return fail_errno("create a file in " + path, errno);
  if (::ftruncate(file.get(), kTriedBytes) != 0) return fail_errno("set the size of a file in " + path, errno);
  void* const at = ::mmap(nullptr, kTriedBytes, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, file.get(), 0);
  if (at == MAP_FAILED && (errno == EOPNOTSUPP || errno == EINVAL)) {
    return fail(
        fmt::format("{} is not on persistent memory that is mapped directly (no MAP_SYNC); {}", path, kInstead));
  }
  if (at == MAP_FAILED) return fail_errno("map a file in " + path, errno);
  const int error = ::madvise(at, kTriedBytes, kPopulateWrite) == 0 ? 0 : errno;
  ::munmap(at, kTriedBytes);
  if (error == EINVAL)
    return fail("this kernel cannot reserve the space of a file (MADV_POPULATE_WRITE); use Linux 5.14 or later");
  return error == 0 ? Status() : fail(path + " has no free space");
}

}  // namespace

Result<PmemFolder> find_pmem_folder(const std::string& text) {
  auto folder = parsed(text);
  if (!folder) return folder;
  Status usable = check_folder(*folder);
  if (usable) usable = try_file(folder->path);
  if (!usable) return tl::make_unexpected(usable.error());
  return folder;
}

}  // namespace mlrun::placement
