// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/output_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <new>

namespace mlrun::exchange {

// Compresses with zlib's fastest level: a file of events is repetitive, and the next levels take three times as long.
class Gzip {
 public:
  Gzip() {
    constexpr int kGzipWindow = 15 + 16, kMemory = 8;
    if (::deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Gzip() { ::deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  template <typename Write>
  void add(std::string_view bytes, bool is_last, Write write) {
    std::array<char, 1 << 16> packed;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = uInt(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream_.avail_out = uInt(packed.size());
      ::deflate(&stream_, is_last ? Z_FINISH : Z_NO_FLUSH);
      write(std::string_view(packed.data(), packed.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_ = {};
};

OutputFile::OutputFile(std::string path, util::UniqueFd file, bool compresses)
    : path_(std::move(path)), file_(std::move(file)), gzip_(compresses ? std::make_unique<Gzip>() : nullptr) {}
OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;

Result<OutputFile> OutputFile::create(const std::string& path, bool compresses) {
  util::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid()) return fail_errno("create " + path, errno);
  return OutputFile(path, std::move(file), compresses);
}

void OutputFile::write_out(std::string_view bytes) {
  while (!bytes.empty() && good()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(size_t(written));
    } else if (written < 0 && errno != EINTR) {
      error_number_ = errno;
    }
  }
}

void OutputFile::flush() {
  if (gzip_) {
    gzip_->add(buffer_, false, [this](std::string_view packed) { write_out(packed); });
  } else {
    write_out(buffer_);
  }
  buffer_.clear();
}

Status OutputFile::close() {
  flush();
  if (gzip_) gzip_->add({}, true, [this](std::string_view packed) { write_out(packed); });
  if (!good()) return fail_errno("write " + path_, error_number_);
  return {};
}

}  // namespace mlrun::exchange
