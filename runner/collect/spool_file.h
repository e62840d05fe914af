// SPDX-License-Identifier: Apache-2.0
// The spool as a file: written in whole pages past the page cache, so that tracing does not evict what the traced
// program reads. Without O_DIRECT support, writes are buffered.
#pragma once

#include <cstdint>
#include <string>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::collect {

class SpoolFile {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  // Creates the file (it must not exist), mode 0600, and holds a lock on it until it is closed.
  static Result<SpoolFile> create(const std::string& path);

  // Opens an existing spool. The error says so if another process holds the lock.
  static Result<SpoolFile> open(const std::string& path);

  // Writes all bytes. Returns 0 or the errno. Requires: `data`, `bytes` and `offset` are multiples of kPageBytes.
  int write(const char* data, uint64_t bytes, uint64_t offset);

  // Frees the disk space of [begin, end), which then reads as zeros. Returns 0 or the errno.
  int free_bytes(uint64_t begin, uint64_t end);

  // Truncates the file to `bytes`: writes are whole pages, and space is allocated ahead.
  Status finish(uint64_t bytes);

  [[nodiscard]] bool direct() const { return direct_; }
  [[nodiscard]] uint64_t size() const;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  static Result<SpoolFile> open_with(const std::string& path, int flags);
  void give_up_direct();
  void reserve_up_to(uint64_t offset);

  std::string path_;
  util::UniqueFd fd_;
  bool direct_ = true;
  uint64_t reserved_bytes_ = 0;
};

}  // namespace mlrun::collect
