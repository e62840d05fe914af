// SPDX-License-Identifier: Apache-2.0
// An unnamed file of sorted runs (sorted_rows.h). It disappears with the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::exchange {

class RunFile {
 public:
  struct Run {
    int64_t begin = 0, end = 0;
  };
  class Reader {
   public:
    Reader(int file, Run run, size_t buffer_bytes)
        : file_(file), at_(run.begin), end_(run.end), buffer_bytes_(buffer_bytes) {}
    // The next `size` bytes, not consumed, which stay where they are until free_skipped(); nullptr at the end of the run.
    Result<char*> peek(size_t size) {
      if (filled_ - from_ < size) {
        if (Status filled = fill(size); !filled) return tl::make_unexpected(filled.error());
      }
      return filled_ == from_ ? nullptr : buffer_.get() + from_;
    }
    void skip(size_t size) { from_ += size; }
    // Frees the bytes that were skipped.
    void free_skipped() { passed_.clear(); }

   private:
    Status fill(size_t size);

    int file_;
    int64_t at_, end_;
    size_t buffer_bytes_, from_ = 0, filled_ = 0;
    std::unique_ptr<char[]> buffer_;
    std::vector<std::unique_ptr<char[]>> passed_;
  };

  explicit RunFile(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  Status begin_run();
  void write(std::string_view bytes);
  Status end_run();
  [[nodiscard]] std::vector<Reader> readers() const;

 private:
  void put(std::string_view bytes);

  std::string folder_;
  util::UniqueFd file_;
  std::vector<Run> runs_;
  std::string buffer_;
  int64_t size_ = 0;
  int error_number_ = 0;
};

}  // namespace mlrun::exchange
