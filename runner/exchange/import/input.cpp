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

#include "runner/exchange/import/archive.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kPackedBytes = size_t{256} << 10;
constexpr int kGzipHeader = 16;

// A gzip file with any number of members, or the deflated bytes in a zip archive.
class PackedInput : public Input {
 public:
  PackedInput(std::string path, std::unique_ptr<Input> packed, Packing packing)
      : path_(std::move(path)), packed_(std::move(packed)), packing_(packing), buffer_(kPackedBytes, '\0') {
    file_size_ = packed_->file_size();
    is_packed_ = true;
    ::inflateInit2(&stream_, packing_ == Packing::kDeflate ? -MAX_WBITS : MAX_WBITS + kGzipHeader);
  }
  ~PackedInput() override { ::inflateEnd(&stream_); }
  PackedInput(const PackedInput&) = delete;
  PackedInput& operator=(const PackedInput&) = delete;

  Result<size_t> read(char* to, size_t size) override {
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
        return bad(fmt::format("damaged compressed data ({})", stream_.msg ? stream_.msg : "zlib"));
      }
    }
    file_at_ = packed_->file_at();
    return room - stream_.avail_out;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> bad(const std::string& what) const {
    return bad_input(path_, what, packed_->file_at() - stream_.avail_in);
  }
  Result<bool> fill() {
    const auto got = packed_->read(buffer_.data(), buffer_.size());
    if (!got) return tl::make_unexpected(got.error());
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(*got);
    return *got != 0;
  }
  Status begin_next_member() {
    is_ended_ = packing_ == Packing::kDeflate;
    while (!is_ended_) {
      if (stream_.avail_in == 0) {
        const auto more = fill();
        if (!more) return tl::make_unexpected(more.error());
        is_ended_ = !*more;
      } else if (*stream_.next_in == 0x1f) {
        ::inflateReset(&stream_);
        return {};
      } else if (*stream_.next_in != 0) {
        return bad("bytes after the compressed data");
      } else {  // padding, as tapes have it
        ++stream_.next_in;
        --stream_.avail_in;
      }
    }
    return {};
  }

  std::string path_;
  std::unique_ptr<Input> packed_;
  Packing packing_;
  bool is_ended_ = false;
  std::string buffer_;
  z_stream stream_{};
};

// ARCHIVE/NAME, where ARCHIVE is a file.
Result<std::unique_ptr<Input>> open_in_archive(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string archive = path.substr(0, slash);
    struct stat status {};
    if (::stat(archive.c_str(), &status) != 0) break;
    if (!S_ISREG(status.st_mode)) continue;
    auto member = open_member(archive, path.substr(slash + 1));
    return !member || !path.ends_with(".gz") ? std::move(member) : inflated(path, std::move(*member), Packing::kGzip);
  }
  return fail_errno("open " + path, ENOTDIR);
}

}  // namespace

tl::unexpected<Error> bad_input(const std::string& path, const std::string& what, int64_t offset) {
  return fail(fmt::format("cannot import {}: {} at byte {}", path, what, offset));
}

FileInput::FileInput(std::string path, util::UniqueFd file, int64_t size)
    : path_(std::move(path)), file_(std::move(file)), end_(size) {
  file_size_ = size;
}

Result<std::unique_ptr<FileInput>> FileInput::open(const std::string& path) {
  util::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return fail_errno("open " + path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return fail_errno("read " + path, errno);
  if (S_ISDIR(status.st_mode)) return fail("cannot import " + path + ": it is a folder; give the files in it");
  if (!S_ISREG(status.st_mode))
    return fail("cannot import " + path + ": it is a pipe or device, and is read more than once; store it in a file");
  return std::unique_ptr<FileInput>(new FileInput(path, std::move(file), status.st_size));
}

Result<size_t> FileInput::read(char* to, size_t size) {
  const auto wanted = std::min<uint64_t>(size, static_cast<uint64_t>(std::max<int64_t>(end_ - file_at_, 0)));
  for (;;) {
    const ssize_t got = ::pread(file_.get(), to, wanted, file_at_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + path_, errno);
    file_at_ += got;
    return static_cast<size_t>(got);
  }
}

Result<std::string> FileInput::at(uint64_t offset, size_t size) const {
  const auto whole = static_cast<uint64_t>(file_size_);
  std::string bytes(offset < whole ? std::min<uint64_t>(size, whole - offset) : 0, '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got =
        ::pread(file_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + path_, errno);
    if (got == 0) bytes.resize(done);
    done += static_cast<size_t>(got);
  }
  return bytes;
}

void FileInput::set_part(uint64_t offset, uint64_t size) {
  const auto whole = static_cast<uint64_t>(file_size_);
  file_at_ = static_cast<int64_t>(std::min(offset, whole));
  end_ = static_cast<int64_t>(std::min(size, whole - static_cast<uint64_t>(file_at_))) + file_at_;
}

std::unique_ptr<Input> inflated(const std::string& path, std::unique_ptr<Input> packed, Packing packing) {
  return std::make_unique<PackedInput>(path, std::move(packed), packing);
}

Result<std::unique_ptr<Input>> Input::open(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 && errno == ENOTDIR) return open_in_archive(path);
  auto file = FileInput::open(path);
  if (!file) return tl::make_unexpected(file.error());
  const auto head = (*file)->at(0, 4);
  if (!head) return tl::make_unexpected(head.error());
  if (head->starts_with("\x1f\x8b")) return inflated(path, std::move(*file), Packing::kGzip);
  if (*head == kZipMagic) return open_first_of_zip(path, std::move(*file));
  return std::unique_ptr<Input>(std::move(*file));
}

Result<bool> Window::grow() {
  const size_t had = end_ - from_, wanted = std::max(kChunk, had);
  std::unique_ptr<char[]> larger;
  if (capacity_ < had + wanted) {
    capacity_ = had + wanted;
    larger = std::make_unique_for_overwrite<char[]>(capacity_ + kPadding);
  }
  char* to = larger ? larger.get() : buffer_.get();
  if (had != 0) std::memmove(to, buffer_.get() + from_, had);
  if (larger) buffer_ = std::move(larger);
  from_ = 0;
  end_ = had;
  const auto got = input_.read(to + had, wanted);
  if (!got) return tl::make_unexpected(got.error());
  end_ += *got;
  std::memset(to + end_, 0, kPadding);
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
