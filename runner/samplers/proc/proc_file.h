// SPDX-License-Identifier: Apache-2.0
// A file of /proc, /sys or a cgroup that is read repeatedly. It is kept open, which saves most of the cost of reading a
// short file. Reading a file of a thread that has ended fails, even if the thread's id was reused.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/unique_fd.h"

namespace mlrun::proc {

class ProcFile {
 public:
  ProcFile() = default;
  // If the file cannot be opened, every read fails.
  explicit ProcFile(const std::string& path);

  [[nodiscard]] bool is_open() const { return fd_.valid(); }
  // It could not be opened for lack of descriptors or memory, which tells nothing about the file.
  [[nodiscard]] bool is_refused() const { return is_refused_; }
  // Reads from the beginning of the file into `room`, at most `bytes`. Empty: the read failed. Valid as long as `room`.
  [[nodiscard]] std::string_view read(char* room, size_t bytes) const;
  // The whole file: `room` grows until the text fits, to 16 MiB at most; a longer text ends with the last whole line that fits.
  [[nodiscard]] std::string_view read(std::vector<char>& room) const;

 private:
  util::UniqueFd fd_;
  bool is_refused_ = false;
};

// After a failed call: is `error` (of errno) a lack of descriptors or memory?
bool is_shortage(int error);

// Reads numbers from a text, one after the other.
class Numbers {
 public:
  explicit Numbers(std::string_view text) : text_(text) {}
  // The next number; skips characters before it that are not digits. False: there are no more numbers.
  bool next(uint64_t& value);

 private:
  std::string_view text_;
};

// The number after `key` in a text of lines "key value"; `key` includes the separator. False: the text has no such line.
bool number_after(std::string_view text, std::string_view key, uint64_t& value);

}  // namespace mlrun::proc
