// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/run_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace mlrun::exchange {

namespace {

constexpr size_t kWriteBytes = size_t{1} << 20;
constexpr size_t kReadBytesAll = size_t{48} << 20, kReadBytesMax = size_t{1} << 20, kReadBytesMin = size_t{16} << 10;

}  // namespace

Result<std::string_view> RunFile::Reader::peek(size_t size) {
  if (buffer_.size() - from_ < size) {
    buffer_.erase(0, from_);
    from_ = 0;
    const auto left = static_cast<size_t>(end_ - at_);
    const size_t had = buffer_.size(), wanted = std::min(left, std::max(buffer_bytes_, size) - had);
    buffer_.resize(had + wanted);
    for (size_t done = 0; done < wanted;) {
      const ssize_t got = ::pread(file_, buffer_.data() + had + done, wanted - done, at_);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return fail_errno("read back sorted rows", got == 0 ? EIO : errno);
      done += static_cast<size_t>(got);
      at_ += got;
    }
  }
  return std::string_view(buffer_).substr(from_, size);
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
  buffer_.append(bytes);
  if (buffer_.size() >= kWriteBytes) flush();
}

void RunFile::flush() {
  for (size_t done = 0; done < buffer_.size() && error_number_ == 0;) {
    const ssize_t put = ::write(file_.get(), buffer_.data() + done, buffer_.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) error_number_ = errno;
    if (put > 0) done += static_cast<size_t>(put);
  }
  size_ += static_cast<int64_t>(buffer_.size());
  buffer_.clear();
}

Status RunFile::end_run() {
  flush();
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
