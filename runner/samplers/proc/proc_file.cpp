// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/proc/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace mlrun::proc {

bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

ProcFile::ProcFile(const std::string& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), is_refused_(!fd_.valid() && is_shortage(errno)) {}

std::string_view ProcFile::read(char* room, size_t bytes) const {
  if (!fd_.valid()) return {};
  size_t have = 0;
  while (have < bytes) {
    const ssize_t got = ::pread(fd_.get(), room + have, bytes - have, static_cast<off_t>(have));
    if (got < 0) return {};
    have += static_cast<size_t>(got);
    // The kernel returns such files in pieces of up to a page; a short piece is the last one.
    if (got == 0 || have < 1024) break;
  }
  return {room, have};
}

// A text that fills the room may have been cut, so it is read again with more room: a cut number would be a wrong one.
std::string_view ProcFile::read(std::vector<char>& room) const {
  constexpr size_t kRoomMin = 4 << 10, kRoomMax = 16 << 20;
  if (room.empty()) room.resize(kRoomMin);
  for (;;) {
    const std::string_view text = read(room.data(), room.size());
    if (text.size() < room.size()) return text;
    if (room.size() >= kRoomMax) return text.substr(0, text.rfind('\n') + 1);
    room.resize(2 * room.size());
  }
}

bool Numbers::next(uint64_t& value) {
  const size_t begin = text_.find_first_of("0123456789");
  if (begin == std::string_view::npos) return false;
  const char* first = text_.data() + begin;
  const char* end = text_.data() + text_.size();
  const auto [after, error] = std::from_chars(first, end, value);
  text_ = {after, static_cast<size_t>(end - after)};
  return error == std::errc();
}

bool number_after(std::string_view text, std::string_view key, uint64_t& value) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at != 0 && text[at - 1] != '\n' && text[at - 1] != ' ') continue;
    return Numbers(text.substr(at + key.size())).next(value);
  }
  return false;
}

}  // namespace mlrun::proc
