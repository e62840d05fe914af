// SPDX-License-Identifier: Apache-2.0
// A finished trace in a folder of its own, removed at the end: the small training's summary and small tables, and 300 calls in three
// row groups. Call i (from 0) begins i * 10 ms after kStart, takes i microseconds and requests i KiB; even ones read
// case A in process 2, odd ones stat a missing file in process 1 and fail with ENOENT.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace mlrun::view::testing {

inline constexpr int64_t kCalls = 300, kCallsPerGroup = 100;

class SmallTrace {
 public:
  SmallTrace();
  ~SmallTrace();
  SmallTrace(const SmallTrace&) = delete;
  SmallTrace& operator=(const SmallTrace&) = delete;

  [[nodiscard]] std::string folder() const { return folder_.string(); }
  [[nodiscard]] std::filesystem::path table_file(const std::string& table) const;
  void write_run(const nlohmann::json& run) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace mlrun::view::testing
