// SPDX-License-Identifier: Apache-2.0
// Counts what became of the events of one imported file: events = events kept + events left out, by reason.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace mlrun::exchange {

// Which clock the times of a file are of.
enum class FileClock : uint8_t { kUnknown, kRealtime, kMonotonic };

inline constexpr const char* kCutRemark = "the file is cut off: read as far as it goes";

struct FileAccount {
  struct Kept {
    int64_t events = 0, rows = 0;
  };
  std::string path, format;
  FileClock clock = FileClock::kUnknown;
  int64_t realtime_offset_ns = 0;  // UTC = time + this, where has_offset
  bool has_offset = false;
  int64_t events = 0;
  std::map<std::string, Kept> kept;         // by table
  std::map<std::string, int64_t> left_out;  // by reason
  std::map<std::string, int64_t> remarks;   // what was repaired while reading, and how often
  nlohmann::json metadata = nlohmann::json::object();

  // Counts an event that made `rows` rows of `table`, a string that lives as long as the program. The end of a range is an event that
  // makes no row.
  void keep(const char* table, int64_t rows = 1, int64_t of_events = 1) {
    events += of_events;
    Kept& sum = sum_of(table);
    sum.events += of_events;
    sum.rows += rows;
  }
  void leave_out(const std::string& reason, int64_t of_events = 1) {
    events += of_events;
    left_out[reason] += of_events;
  }

 private:
  // The sum of a table. Only addresses of names are compared, for speed: a file has millions of rows of a few tables.
  Kept& sum_of(const char* table) {
    for (const auto& [name, sum] : sums_) {
      if (name == table) return *sum;
    }
    return *sums_.emplace_back(table, &kept[table]).second;
  }
  std::vector<std::pair<const char*, Kept*>> sums_;
};

}  // namespace mlrun::exchange
