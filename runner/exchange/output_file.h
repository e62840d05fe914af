// SPDX-License-Identifier: Apache-2.0
// A file that a format writes, buffered. The first failed write (a full disk) is the error of close().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::exchange {

class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);

  void write(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > kBuffer) flush();
    buffer_.append(bytes);
    size_ += bytes.size();
  }
  // Bytes written so far.
  [[nodiscard]] uint64_t size() const { return size_; }
  // False: a write has failed, and further ones do nothing.
  [[nodiscard]] bool good() const { return error_number_ == 0; }
  Status close();

 private:
  static constexpr size_t kBuffer = 1 << 20;

  OutputFile(std::string path, util::UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  void flush();

  std::string path_;
  util::UniqueFd file_;
  std::string buffer_;
  uint64_t size_ = 0;
  int error_number_ = 0;
};

}  // namespace mlrun::exchange
