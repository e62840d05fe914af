// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/kept_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "runner/collect/frame_text.h"
#include "runner/util/spool_frame.h"

namespace mlrun::collect {

Result<KeptFile> KeptFile::create(const std::string& path) {
  KeptFile file;
  file.path_ = path;
  file.fd_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
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

// False: `of_frame` stopped, a read failed or a frame is too long; another process may have truncated or changed the file.
bool KeptFile::for_each_frame(const OfFrame& of_frame) const {
  const uint64_t written = end_ - held_.size();
  const auto read = [&](void* into, size_t bytes, uint64_t at) {
    return ::pread(fd_.get(), into, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
  };
  std::vector<char> payload;
  for (uint64_t at = 0; at + sizeof(mlrun_frame) <= written;) {
    mlrun_frame header;
    if (!read(&header, sizeof header, at)) return false;
    if (header.magic != MLRUN_SPOOL_MAGIC) {  // zeros up to the next chunk
      at = util::chunk_end(at);
      continue;
    }
    if (header.payload_bytes > MLRUN_FRAME_PAYLOAD_MAX) return false;
    payload.resize(header.payload_bytes);
    if (!read(payload.data(), payload.size(), at + sizeof header)) return false;
    if (!of_frame(header, payload.data())) return false;
    at += util::frame_bytes(header.payload_bytes);
  }
  return true;
}

namespace {

// The records of a frame's payload, up to the first invalid length.
void walk_records(const mlrun_frame& header, const char* payload, const KeptFile::OfRecord& of_record) {
  for (uint32_t at = 0; at + MLRUN_UNIT_BYTES <= header.payload_bytes;) {
    uint64_t first = 0;
    std::memcpy(&first, payload + at, sizeof first);
    const auto bytes = static_cast<uint32_t>(first >> 8 & 0xff) * MLRUN_UNIT_BYTES;
    if (bytes == 0 || bytes > header.payload_bytes - at) return;
    of_record(payload + at, bytes);
    at += bytes;
  }
}

}  // namespace

bool KeptFile::for_each_record(const OfRecord& of_record) const {
  return for_each_frame([&](const mlrun_frame& header, const char* payload) {
    if (header.type == MLRUN_FRAME_KEPT) walk_records(header, payload, of_record);
    return true;
  });
}

bool KeptFile::rewrite(const IsToGo& is_to_go) {
  const std::string fresh_path = unfinished_path(path_);
  ::unlink(fresh_path.c_str());
  Result<KeptFile> fresh = create(fresh_path);
  if (!fresh) return false;
  std::vector<char> left;
  const bool copied = for_each_frame([&](const mlrun_frame& header, const char* payload) {
    left.assign(payload, payload + header.payload_bytes);
    if (header.type == MLRUN_FRAME_KEPT) {
      left.clear();
      walk_records(header, payload, [&](const char* record, uint32_t bytes) {
        if (!is_to_go(record, bytes)) left.insert(left.end(), record, record + bytes);
      });
      if (left.empty()) return true;
    }
    fresh->add(header, left.data(), static_cast<uint32_t>(left.size()));
    return !fresh->is_due() || fresh->flush();
  });
  if (!copied || !fresh->flush() || ::rename(fresh_path.c_str(), path_.c_str()) != 0) {
    ::unlink(fresh_path.c_str());
    return false;
  }
  const std::string path = path_;
  *this = std::move(*fresh);
  path_ = path;
  return true;
}

}  // namespace mlrun::collect
