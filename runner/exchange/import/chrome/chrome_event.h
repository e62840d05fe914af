// SPDX-License-Identifier: Apache-2.0
// One event of the Chrome trace format, parsed as plain JSON or by simdjson. Texts are valid UTF-8 and live until the next one is parsed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mlrun::exchange {

struct ChromeEvent {
  char phase = 0;  // 0: no phase, or one of several letters
  std::optional<int64_t> ts_ns, dur_ns;
  bool has_ts = false;  // it has a time, which may be no number
  std::string_view pid, tid, name, category, scope, binding, instant_scope;
  std::string_view id;           // as text, whatever its type
  bool id_is_local = false;      // to the process
  std::string_view args;         // JSON
  std::string_view stack_frame;  // sf: key in stackFrames
  std::string_view stack;        // JSON array
  std::string_view weight;
  std::string_view bind_id, flow_in, flow_out;  // JSON: an arrow into and out of the event
  std::string other;                            // members of a JSON object, without braces: those that no field is for
};

class ChromeEventParser {
 public:
  ChromeEventParser();
  ~ChromeEventParser();
  ChromeEventParser(const ChromeEventParser&) = delete;
  ChromeEventParser& operator=(const ChromeEventParser&) = delete;

  enum class Outcome : uint8_t { kEvent, kMended, kNoObject, kEmpty, kBad };
  // `element`: as from JsonSplitter, with its padding. JSON that its writer did not escape correctly is mended: bytes that are not UTF-8,
  // control characters, quotes and backslashes in texts, halves of surrogate pairs, NaN.
  Outcome parse(std::string_view element, ChromeEvent& event);
  // Parses an event that begins at the first of `bytes` and is plain JSON (plain_json.h), as parse() would. Returns its size. 0: it is not
  // plain or does not end in `bytes`; use parse(). Texts live as long as the bytes. Requires: 64 bytes behind `bytes` can be read.
  static size_t parse_plain(std::string_view bytes, ChromeEvent& event);
  // Why parse() returned kBad.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  struct State;
  bool parse_sound(std::string_view element, ChromeEvent& event, bool& is_empty);

  std::unique_ptr<State> state_;
  std::string problem_, mended_;
};

// Adds a member to `members`, the members of an object without braces. `value`: JSON.
void add_json_member(std::string& members, std::string_view key, std::string_view value);

// `text` with what simdjson refuses made acceptable.
[[nodiscard]] std::string mended_json(std::string_view text, bool escapes_quotes);

}  // namespace mlrun::exchange
