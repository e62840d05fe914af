// SPDX-License-Identifier: Apache-2.0
// Splits a JSON trace of any size into its events, without parsing them: an array, an object with the array `traceEvents` (and `samples`), or objects
// one after the other (JSON lines, commas missing). An array that is not closed, as a program that was killed leaves it, ends at
// the end of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "runner/exchange/import/input.h"

namespace mlrun::exchange {

inline constexpr size_t kEventBytesMax = size_t{64} << 20;
inline constexpr int kDepthMax = 512;

class JsonSplitter {
 public:
  struct Visitor {
    // An element of the array: an object, or another value. Readable for kPadding bytes beyond its end.
    std::function<Status(std::string_view element, int64_t offset)> element;
    // Any other member of the top-level object; long values are cut to kMemberMax and passed as empty.
    std::function<Status(std::string_view key, std::string_view value)> member;
    std::function<void(int64_t file_at)> progress;
  };
  static constexpr size_t kPadding = Window::kPadding, kMemberMax = size_t{1} << 20;

  JsonSplitter(Input& input, std::string path) : input_(input), window_(input), path_(std::move(path)) {}
  Status run(const Visitor& visitor);

  // The file ended within the array: after a whole element, or inside one, whose bytes were not used.
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  [[nodiscard]] bool has_partial_event() const { return has_partial_; }

 private:
  Result<int> peek();  // the next byte that is no white space; -1: the end
  Result<std::string_view> value(size_t limit);
  Status elements(const Visitor& visitor, bool has_end);
  Status members(const Visitor& visitor);
  [[nodiscard]] tl::unexpected<Error> bad(const std::string& what) const;

  Input& input_;
  Window window_;
  std::string path_;
  bool is_cut_ = false, has_partial_ = false, is_lines_ = false;
};

}  // namespace mlrun::exchange
