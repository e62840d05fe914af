// SPDX-License-Identifier: Apache-2.0
// What an export or import did with each row: rows in = rows written + rows left out, by reason. No row is lost without being counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mlrun::exchange {

class Account {
 public:
  // `events`: number of items, such as slices, that the format has for these rows; may differ from the number of rows.
  void wrote(const std::string& table, int64_t rows, int64_t events) {
    written_[table].rows += rows;
    written_[table].events += events;
  }
  // `reason` completes "NUMBER rows of TABLE: REASON".
  void left_out(const std::string& table, const std::string& reason, int64_t rows) {
    if (rows != 0) left_out_[{table, reason}] += rows;
  }
  // A line about something other than rows, such as arrows.
  void note(std::string text) { notes_.push_back(std::move(text)); }
  [[nodiscard]] int64_t rows_written() const;
  [[nodiscard]] int64_t events_written() const;
  // Lines for people, tables in alphabetical order: what was written, then "not written: ...".
  [[nodiscard]] std::string text() const;

 private:
  struct Written {
    int64_t rows = 0, events = 0;
  };
  std::map<std::string, Written> written_;
  std::map<std::pair<std::string, std::string>, int64_t> left_out_;  // by table and reason
  std::vector<std::string> notes_;
};

}  // namespace mlrun::exchange
