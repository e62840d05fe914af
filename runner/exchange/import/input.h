// SPDX-License-Identifier: Apache-2.0
// The bytes of an imported file, unpacked if it is a gzip or zip file or in an archive: as a stream, or line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::exchange {

class Input {
 public:
  // `path`: a file, or ARCHIVE/NAME (archive.h).
  static Result<std::unique_ptr<Input>> open(const std::string& path);
  virtual ~Input() = default;

  // Fills up to `size` bytes; 0 at the end.
  virtual Result<size_t> read(char* to, size_t size) = 0;
  // Bytes of the file read so far, and its size: for progress.
  [[nodiscard]] int64_t file_at() const { return file_at_; }
  [[nodiscard]] int64_t file_size() const { return file_size_; }
  // The packed file ends early; what came before was read.
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  // The bytes come from a packed file or an archive.
  [[nodiscard]] bool is_packed() const { return is_packed_; }

 protected:
  int64_t file_at_ = 0, file_size_ = 0;
  bool is_cut_ = false, is_packed_ = false;
};

// A file, or a part of one.
class FileInput : public Input {
 public:
  static Result<std::unique_ptr<FileInput>> open(const std::string& path);
  Result<size_t> read(char* to, size_t size) override;
  // The bytes at `offset`, independent of read(); fewer at the end of the file.
  [[nodiscard]] Result<std::string> at(uint64_t offset, size_t size) const;
  // From now on read() returns only these bytes of the file.
  void set_part(uint64_t offset, uint64_t size);

 private:
  FileInput(std::string path, util::UniqueFd file, int64_t size);
  std::string path_;
  util::UniqueFd file_;
  int64_t end_;
};

enum class Packing : uint8_t { kGzip, kDeflate };
[[nodiscard]] std::unique_ptr<Input> inflated(const std::string& path, std::unique_ptr<Input> packed, Packing packing);

// A window on an input that grows at its end. Offsets are of the unpacked bytes.
class Window {
 public:
  static constexpr size_t kPadding = 64;  // readable behind the bytes, with any content
  explicit Window(Input& input) : input_(input) {}

  [[nodiscard]] std::string_view bytes() const { return {buffer_.get() + from_, end_ - from_}; }
  [[nodiscard]] int64_t offset() const { return offset_; }
  // Reads more; false at the end of the input. Frees the consumed bytes first.
  Result<bool> grow();
  void consume(size_t size) {
    from_ += size;
    offset_ += static_cast<int64_t>(size);
  }

 private:
  static constexpr size_t kChunk = size_t{256} << 10;  // stays in the cache until it is parsed
  Input& input_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0, from_ = 0, end_ = 0;  // without the padding
  int64_t offset_ = 0;
};

// The lines of an input without their ends. A line of more than kLineMax bytes is an error.
class Lines {
 public:
  static constexpr size_t kLineMax = size_t{4} << 20;
  Lines(Input& input, std::string path) : window_(input), path_(std::move(path)) {}
  // The next line, valid until the next call; false at the end.
  Result<bool> next(std::string_view& line);
  // The byte at which the last line begins.
  [[nodiscard]] int64_t offset() const { return offset_; }

 private:
  Window window_;
  std::string path_;
  size_t taken_ = 0;
  int64_t offset_ = 0;
};

// "cannot import PATH: WHAT at byte OFFSET".
[[nodiscard]] tl::unexpected<Error> bad_input(const std::string& path, const std::string& what, int64_t offset);

}  // namespace mlrun::exchange
