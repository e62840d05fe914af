// SPDX-License-Identifier: Apache-2.0
// A file that a format writes, buffered, uncompressed or as gzip. The first failed write (a full disk) is the error of close().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::exchange {

class Gzip;

class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path, bool compresses = false);

  void write(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > kBuffer) flush();
    buffer_.append(bytes);
    size_ += bytes.size();
  }
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  // Bytes written so far, before compression.
  [[nodiscard]] uint64_t size() const { return size_; }
  // False: a write has failed, and further ones do nothing.
  [[nodiscard]] bool good() const { return error_number_ == 0; }
  [[nodiscard]] int error_number() const { return error_number_; }
  Status close();

 private:
  static constexpr size_t kBuffer = 1 << 20;

  OutputFile(std::string path, util::UniqueFd file, bool compresses);
  void flush();
  void write_out(std::string_view bytes);

  std::string path_;
  util::UniqueFd file_;
  std::string buffer_;
  uint64_t size_ = 0;
  int error_number_ = 0;
  std::unique_ptr<Gzip> gzip_;  // nullptr: not compressed
};

}  // namespace mlrun::exchange
