// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "runner/util/unique_fd.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kPackedBytes = size_t{256} << 10;
constexpr int kGzipHeader = 16, kRawDeflate = -MAX_WBITS;

class PlainInput : public Input {
 public:
  PlainInput(std::string path, util::UniqueFd file, int64_t size) : path_(std::move(path)), file_(std::move(file)) {
    file_size_ = size;
  }
  Result<size_t> read(char* to, size_t size) override {
    for (;;) {
      const ssize_t got = ::read(file_.get(), to, size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail_errno("read " + path_, errno);
      file_at_ += got;
      return static_cast<size_t>(got);
    }
  }

 private:
  std::string path_;
  util::UniqueFd file_;
};

// gzip files with any number of members, and the deflated first file of a zip archive.
class PackedInput : public Input {
 public:
  PackedInput(std::string path, std::unique_ptr<Input> packed, bool is_zip)
      : path_(std::move(path)), packed_(std::move(packed)), is_zip_(is_zip), buffer_(kPackedBytes, '\0') {
    file_size_ = packed_->file_size();
    ::inflateInit2(&stream_, is_zip_ ? kRawDeflate : MAX_WBITS + kGzipHeader);
  }
  ~PackedInput() override { ::inflateEnd(&stream_); }
  PackedInput(const PackedInput&) = delete;
  PackedInput& operator=(const PackedInput&) = delete;

  Result<size_t> read(char* to, size_t size) override {
    if (is_zip_ && !is_begun_) {
      if (Status skipped = skip_zip_header(); !skipped) return tl::make_unexpected(skipped.error());
    }
    is_begun_ = true;
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room && !is_ended_) {
      if (stream_.avail_in == 0) {
        const auto more = fill();
        if (!more) return tl::make_unexpected(more.error());
        if (!*more) {
          is_cut_ = is_ended_ = true;
          break;
        }
      }
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        if (Status next = begin_next_member(); !next) return tl::make_unexpected(next.error());
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return bad_input(path_, fmt::format("damaged compressed data ({})", stream_.msg ? stream_.msg : "zlib"),
                         packed_->file_at() - stream_.avail_in);
      }
    }
    file_at_ = packed_->file_at();
    return room - stream_.avail_out;
  }

 private:
  Result<bool> fill() {
    const auto got = packed_->read(buffer_.data(), buffer_.size());
    if (!got) return tl::make_unexpected(got.error());
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(*got);
    return *got != 0;
  }
  Status begin_next_member() {
    if (stream_.avail_in == 0) {
      const auto more = fill();
      if (!more) return tl::make_unexpected(more.error());
    }
    // Padding after the last member is no member.
    if (is_zip_ || stream_.avail_in == 0 || *stream_.next_in != 0x1f) {
      is_ended_ = true;
    } else {
      ::inflateReset(&stream_);
    }
    return {};
  }
  Status skip_zip_header() {
    constexpr size_t kHead = 30, kMethodAt = 8, kNameAt = 26, kExtraAt = 28;
    constexpr unsigned kDeflated = 8;
    if (const auto more = fill(); !more) return tl::make_unexpected(more.error());
    const auto number = [&](size_t at) {
      return static_cast<size_t>(stream_.next_in[at]) | static_cast<size_t>(stream_.next_in[at + 1]) << 8;
    };
    if (stream_.avail_in < kHead) return bad_input(path_, "the zip archive ends early", 0);
    const size_t skipped = kHead + number(kNameAt) + number(kExtraAt);
    if (number(kMethodAt) != kDeflated)
      return bad_input(path_, "the first file of the zip archive is not deflated: unpack it", 0);
    if (stream_.avail_in < skipped) return bad_input(path_, "the zip archive ends early", 0);
    stream_.next_in += skipped;
    stream_.avail_in -= static_cast<uInt>(skipped);
    return {};
  }

  std::string path_;
  std::unique_ptr<Input> packed_;
  bool is_zip_, is_begun_ = false, is_ended_ = false;
  std::string buffer_;
  z_stream stream_{};
};

}  // namespace

tl::unexpected<Error> bad_input(const std::string& path, const std::string& what, int64_t offset) {
  return fail(fmt::format("cannot import {}: {} at byte {}", path, what, offset));
}

Result<std::unique_ptr<Input>> Input::open(const std::string& path) {
  util::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return fail_errno("open " + path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return fail_errno("read " + path, errno);
  if (S_ISDIR(status.st_mode)) return fail("cannot import " + path + ": it is a folder; give the files in it");
  unsigned char magic[4] = {};
  const ssize_t got = ::pread(file.get(), magic, sizeof magic, 0);
  const bool is_gzip = got >= 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  const bool is_zip = got == 4 && std::memcmp(magic, "PK\3\4", 4) == 0;
  std::unique_ptr<Input> plain = std::make_unique<PlainInput>(path, std::move(file), status.st_size);
  if (!is_gzip && !is_zip) return plain;
  return std::unique_ptr<Input>(std::make_unique<PackedInput>(path, std::move(plain), is_zip));
}

Result<bool> Window::grow() {
  buffer_.erase(0, from_);
  from_ = 0;
  const size_t had = buffer_.size(), wanted = std::max(kChunk, had);
  buffer_.reserve(had + wanted + kPadding);
  buffer_.resize(had + wanted);
  const auto got = input_.read(buffer_.data() + had, wanted);
  buffer_.resize(had + (got ? *got : 0));
  if (!got) return tl::make_unexpected(got.error());
  return *got != 0;
}

Result<bool> Lines::next(std::string_view& line) {
  window_.consume(taken_);
  size_t searched = 0;
  for (;;) {
    const std::string_view bytes = window_.bytes();
    const size_t end = bytes.find('\n', searched);
    offset_ = window_.offset();
    if (end != std::string_view::npos) {
      taken_ = end + 1;
      line = bytes.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      return true;
    }
    if (bytes.size() > kLineMax) return bad_input(path_, "a line of more than 4 MiB", offset_);
    searched = bytes.size();
    const auto more = window_.grow();
    if (!more) return tl::make_unexpected(more.error());
    if (*more) continue;
    line = window_.bytes();
    taken_ = line.size();
    return !line.empty();
  }
}

}  // namespace mlrun::exchange
