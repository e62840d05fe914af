// SPDX-License-Identifier: Apache-2.0
// A trace folder for one test: made of a SpoolWriter, merged, and read back column by column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/summary/summary.h"
#include "runner/util/result.h"
#include "tests/runner/trace/spool_writer.h"

namespace mlrun::testing {

class TraceFolder {
 public:
  TraceFolder();
  ~TraceFolder();
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

  // Writes spool and session, merges with so many threads.
  Result<summary::Summary> merge(const SpoolWriter& spool, unsigned threads = 2) const;

  using Numbers = std::vector<std::optional<int64_t>>;
  // Columns of a table as numbers and texts, rows in their order; a missing table or column fails the test.
  [[nodiscard]] Numbers numbers(const std::string& table, const std::string& column) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& table, const std::string& column) const;
  [[nodiscard]] nlohmann::json run() const;
  // All bytes of all tables, to compare two merges.
  [[nodiscard]] std::string fingerprint() const;

 private:
  std::string path_;
};

}  // namespace mlrun::testing
