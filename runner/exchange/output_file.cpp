// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace mlrun::exchange {

Result<OutputFile> OutputFile::create(const std::string& path) {
  util::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid()) return fail_errno("create " + path, errno);
  return OutputFile(path, std::move(file));
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && good()) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(size_t(written));
    } else if (written < 0 && errno != EINTR) {
      error_number_ = errno;
    }
  }
  buffer_.clear();
}

Status OutputFile::close() {
  flush();
  if (!good()) return fail_errno("write " + path_, error_number_);
  return {};
}

}  // namespace mlrun::exchange
