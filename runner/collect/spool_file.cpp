// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/spool_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mlrun::collect {

namespace {
constexpr uint64_t kAheadBytes = 16 << 20;
}

Result<SpoolFile> SpoolFile::open_with(const std::string& path, int flags) {
  SpoolFile file;
  file.path_ = path;
  file.fd_.reset(::open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0600));
  if (!file.fd_.valid()) return fail_errno("open the spool " + path, errno);
  if (::flock(file.fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail("the spool " + path + " is in use by another mlrun; wait for it to end");
  }
  // O_DIRECT is set after open: an open(O_CREAT | O_DIRECT) that fails may leave the file behind.
  file.direct_ = ::fcntl(file.fd_.get(), F_SETFL, O_DIRECT) == 0;
  return file;
}

Result<SpoolFile> SpoolFile::create(const std::string& path) { return open_with(path, O_CREAT | O_EXCL); }
Result<SpoolFile> SpoolFile::open(const std::string& path) { return open_with(path, 0); }

void SpoolFile::give_up_direct() {
  direct_ = false;
  ::fcntl(fd_.get(), F_SETFL, 0);
}

// Preallocated blocks make a direct write a third cheaper. If the allocation fails, the write will report the error.
void SpoolFile::reserve_up_to(uint64_t offset) {
  if (offset <= reserved_bytes_) return;
  const uint64_t begin = std::max(reserved_bytes_, size());
  reserved_bytes_ = begin + std::max<uint64_t>(kAheadBytes, offset - std::min(begin, offset));
  ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin), static_cast<off_t>(reserved_bytes_ - begin));
}

int SpoolFile::write(const char* data, uint64_t bytes, uint64_t offset) {
  if (direct_) reserve_up_to(offset + bytes);
  while (bytes > 0) {
    const ssize_t put = ::pwrite(fd_.get(), data, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EINVAL && direct_) {  // some file systems accept O_DIRECT but refuse the first write
      give_up_direct();
      continue;
    }
    if (put < 0) return errno;
    if (put == 0) return ENOSPC;
    // A short direct write may end within a page; a buffered write accepts any length.
    if (direct_ && static_cast<uint64_t>(put) % kPageBytes != 0) give_up_direct();
    data += put;
    bytes -= static_cast<uint64_t>(put);
    offset += static_cast<uint64_t>(put);
  }
  return 0;
}

int SpoolFile::free_bytes(uint64_t begin, uint64_t end) {
  const int result = ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                                 static_cast<off_t>(end - begin));
  return result == 0 ? 0 : errno;
}

Status SpoolFile::finish(uint64_t bytes) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) return fail_errno("truncate the spool " + path_, errno);
  return {};
}

uint64_t SpoolFile::size() const {
  struct stat status {};
  return ::fstat(fd_.get(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

}  // namespace mlrun::collect
