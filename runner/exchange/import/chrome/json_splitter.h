// SPDX-License-Identifier: Apache-2.0
// Splits a JSON trace of any size into its events, without parsing them: an array, an object with the array `traceEvents` (and `samples`), or objects
// one after the other (JSON lines, commas missing). An array that is not closed, since its program was killed, ends at the end of the file, or
// where the next array begins if the file has several.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "runner/exchange/import/input.h"

namespace mlrun::exchange {

inline constexpr size_t kEventBytesMax = size_t{32} << 20;
inline constexpr int kDepthMax = 512;

class JsonSplitter {
 public:
  // How a member that is an array or object is read: as a value, by its elements, or by its members.
  enum class Reads : uint8_t { kWhole, kElements, kMembers };
  // Chooses how a member is read. `depth`: the number of objects that enclose the member's object; `first`: the first byte of its value.
  // It is also called at the start of each JSON text, with an empty key; that result is ignored.
  using HowToRead = std::function<Reads(int depth, std::string_view key, char first)>;
  struct Visitor {
    // An element of an array of events: an object, or another value. Readable for kPadding bytes beyond its end.
    std::function<Status(std::string_view element, int64_t offset)> element;
    // Is given the bytes from the beginning of an object on. Returns its size if it has read the object; 0: pass it to element().
    std::function<Result<size_t>(std::string_view bytes)> object;
    // A member that is read as a value; values beyond kMemberMax are passed as empty.
    std::function<Status(int depth, std::string_view key, std::string_view value)> member;
    std::function<void(int64_t file_at)> progress;
    HowToRead reads = [](int, std::string_view, char) { return Reads::kWhole; };
  };
  static constexpr size_t kPadding = Window::kPadding, kMemberMax = size_t{1} << 20;

  JsonSplitter(Input& input, std::string path) : input_(input), window_(input), path_(std::move(path)) {}
  Status run(const Visitor& visitor);

  // The file ended early: within a member, or within the array, after a whole element or (has_partial_event()) inside one, which is left out.
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  [[nodiscard]] bool has_partial_event() const { return has_partial_; }
  // There was an array of events, though it may be empty.
  [[nodiscard]] bool has_events() const { return has_events_; }

 private:
  Result<int> peek();  // the next byte that is not white space; -1: the end
  Result<std::string_view> value(size_t limit, bool skips_long);
  Result<bool> opens_more_objects();
  Result<bool> next_member(std::string& key);
  Status elements(const Visitor& visitor, int depth);
  Status members(const Visitor& visitor, int depth);
  [[nodiscard]] bool begins_with_event() const;
  Status text(const Visitor& visitor);
  [[nodiscard]] tl::unexpected<Error> bad(const std::string& what) const;

  Input& input_;
  Window window_;
  std::string path_;
  bool is_cut_ = false, has_partial_ = false, has_events_ = false;
  bool is_skipped_ = false;  // the last value was longer than the limit, so that only its end is there
};

}  // namespace mlrun::exchange
