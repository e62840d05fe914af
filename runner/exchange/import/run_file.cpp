// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/run_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace mlrun::exchange {

namespace {

constexpr size_t kWriteBytes = size_t{256} << 10;
constexpr size_t kReadBytesAll = size_t{48} << 20, kReadBytesMax = size_t{1} << 20, kReadBytesMin = size_t{16} << 10;

}  // namespace

// Moves the rest of the buffer to the front of a new one.
Status RunFile::Reader::fill(size_t size) {
  const size_t had = filled_ - from_, left = static_cast<size_t>(end_ - at_);
  const size_t wanted = std::min(left, std::max(buffer_bytes_, size) - had);
  if (had == 0 && wanted == 0) return {};
  auto next = std::make_unique_for_overwrite<char[]>(had + wanted);
  if (had != 0) std::memcpy(next.get(), buffer_.get() + from_, had);
  for (size_t done = 0; done < wanted;) {
    const ssize_t got = ::pread(file_, next.get() + had + done, wanted - done, at_);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail_errno("read back sorted rows", got == 0 ? EIO : errno);
    done += static_cast<size_t>(got);
    at_ += got;
  }
  if (buffer_) passed_.push_back(std::move(buffer_));
  buffer_ = std::move(next);
  from_ = 0;
  filled_ = had + wanted;
  return {};
}

Status RunFile::begin_run() {
  if (!file_.valid()) {
    std::string name = folder_ + "/rows-XXXXXX";
    file_.reset(::mkostemp(name.data(), O_CLOEXEC));
    if (!file_.valid()) return fail_errno("create a file in " + folder_, errno);
    ::unlink(name.c_str());
  }
  runs_.push_back({size_, size_});
  return {};
}

void RunFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kWriteBytes) {
    put(buffer_);
    buffer_.clear();
  }
  bytes.size() < kWriteBytes ? static_cast<void>(buffer_.append(bytes)) : put(bytes);
}

void RunFile::put(std::string_view bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty() && error_number_ == 0) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) error_number_ = errno;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
}

Status RunFile::end_run() {
  put(buffer_);
  buffer_.clear();
  buffer_.shrink_to_fit();
  runs_.back().end = size_;
  if (error_number_ != 0) return fail_errno("write sorted rows to " + folder_, error_number_);
  return {};
}

std::vector<RunFile::Reader> RunFile::readers() const {
  const size_t each = std::clamp(kReadBytesAll / std::max<size_t>(runs_.size(), 1), kReadBytesMin, kReadBytesMax);
  std::vector<Reader> readers;
  for (const Run& run : runs_) readers.emplace_back(file_.get(), run, each);
  return readers;
}

}  // namespace mlrun::exchange
