// SPDX-License-Identifier: Apache-2.0
// A file of /proc, /sys or a cgroup that is read again and again: it is kept open, which saves most of the cost of a
// short one. A file of a thread that has ended fails to be read, even if its number was given to another thread.
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
  // Not there: every read fails.
  explicit ProcFile(const std::string& path);

  [[nodiscard]] bool is_open() const { return fd_.valid(); }
  // Reads from the beginning, `room` at most. Empty: it failed. Valid as long as `room`.
  [[nodiscard]] std::string_view read(char* room, size_t bytes) const;

 private:
  util::UniqueFd fd_;
};

// Reads numbers from a text, one after the other.
class Numbers {
 public:
  explicit Numbers(std::string_view text) : text_(text) {}
  // False: there is no further one. Skips whatever is not a digit before it.
  bool next(uint64_t& value);

 private:
  std::string_view text_;
};

// The number after `key` in a text of lines "key value"; `key` with what separates it. False: there is none.
bool number_after(std::string_view text, std::string_view key, uint64_t& value);

}  // namespace mlrun::proc
