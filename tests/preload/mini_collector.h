// SPDX-License-Identifier: Apache-2.0
// Runs a command with the interposer and drains what it records while it runs: "expected against recorded + counted". A
// second reading of the contract, independent of the collector in runner/collect; nothing is written anywhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runner/events/record.h"
#include "tests/preload/mini_arena.h"

namespace mlrun::preload_test {

// A record where it lies; valid during the callback only.
struct RecordView {
  const uint64_t* words;
  uint32_t channel;  // descriptor id
  const mlrun_channel* descriptor;
  uint64_t filling;  // names the filling of the segment: within one, records are in the thread's order

  [[nodiscard]] uint32_t kind() const { return words[0] >> 16 & 0xffff; }
  [[nodiscard]] uint32_t units() const { return words[0] >> 8 & 0xff; }
  [[nodiscard]] uint32_t arg() const { return static_cast<uint32_t>(words[0] >> 32); }
  [[nodiscard]] int64_t result() const { return static_cast<int64_t>(words[4]) >> 8; }  // calls
};

// Text of a MLRUN_STRING record; the tests have no string longer than one fragment.
std::string fragment_text(const RecordView& record);

struct RunOptions {
  ArenaOptions arena{};
  std::string library{};  // empty: the product; "none": not traced
  std::map<std::string, std::string> environment{};
  std::chrono::microseconds per_segment{0};  // a slow collector: sleeps so long for each full segment
  std::chrono::seconds wait_for_descendants{2};
  std::function<void(const RecordView&)> on_record{};
  std::function<void(MiniArena&)> on_pass{};  // after each pass over the whole arena
};

struct Totals {
  int status = -1;                           // as waitpid gives it
  std::string output;                        // the command's stdout and stderr
  std::map<uint32_t, uint64_t> records;      // by kind
  uint64_t drops[MLRUN_DROPPED_KINDS] = {};  // of channels, and of threads that found none
  uint64_t failures[MLRUN_FAILURES] = {};
  uint64_t counted_allocs = 0, counted_frees = 0, counted_alloc_bytes = 0;
  uint64_t channels = 0, live_at_end = 0;
  uint64_t torn = 0;                      // holes of records that were begun and not finished
  uint64_t closed_holes = 0, parked = 0;  // of these in segments whose owner lives on
  uint64_t broken = 0;                    // places that no rule of the contract explains
  uint64_t recycled = 0, zeroed = 0;      // segments freed; of these zeroed at the wrap of the lap
  double cpu_seconds = 0;                 // of the collecting

  [[nodiscard]] uint64_t of(uint32_t kind) const;
  [[nodiscard]] uint64_t all_records() const;
  [[nodiscard]] uint64_t all_drops() const;
  [[nodiscard]] int exit_code() const;                       // 128 + n for a signal
  [[nodiscard]] long number(const std::string& name) const;  // from "name=123" in the output, -1: not there
};

// Counts the preads whose offset is not one more than that of the pread before, as the victims make them.
class OrderCheck {
 public:
  void look_at(const RecordView& record);
  [[nodiscard]] uint64_t wrong() const { return wrong_; }

 private:
  std::map<uint64_t, uint64_t> last_;  // by filling
  uint64_t wrong_ = 0;
};

Totals run_traced(const std::vector<std::string>& command, const RunOptions& options = {});

// Built beside the tests.
std::string victim(const std::string& name);
std::string preload_library();
std::string cupti_library();
std::string placement_library();
std::string points_library();  // with test points (preload/base/test_point.h)

}  // namespace mlrun::preload_test
