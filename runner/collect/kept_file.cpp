// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/kept_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runner/collect/frame_text.h"

namespace mlrun::collect {

Result<KeptFile> KeptFile::create(const std::string& path) {
  KeptFile file;
  file.fd_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.fd_.valid()) return fail_errno("create " + path, errno);
  return file;
}

void KeptFile::add(mlrun_frame header, const void* payload, uint32_t bytes) {
  const size_t before = held_.size();
  append_frame(held_, end_ - before, header, payload, bytes);
  end_ += held_.size() - before;
}

bool KeptFile::flush() {
  size_t done = 0;
  while (done < held_.size()) {
    const auto offset = static_cast<off_t>(end_ - held_.size() + done);
    const ssize_t put = ::pwrite(fd_.get(), held_.data() + done, held_.size() - done, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) break;
    done += static_cast<size_t>(put);
  }
  held_.erase(0, done);
  return held_.empty();
}

}  // namespace mlrun::collect
