// SPDX-License-Identifier: Apache-2.0
// What a sweep shows while it runs: one line that is rewritten on a terminal, a line for each run elsewhere. On standard error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/report/text/text_style.h"
#include "runner/sweep/store/rows.h"
#include "runner/util/status_line.h"

namespace mlrun::sweep {

class Progress {
 public:
  explicit Progress(bool quiet);

  // Before a run.
  void begin(const RunRow& run, size_t number, size_t total);
  // After a run. `spent_ns`: time of the run with its commands `before` and `after`, without pause and warm-up.
  void end(const RunRow& run, uint64_t spent_ns);
  using Cell = std::pair<uint32_t, uint32_t>;  // configuration, workload
  // How many runs are to be made after the current one, for the time left.
  void set_left(std::map<Cell, size_t> left) { left_ = std::move(left); }
  // Called now and then while a run lasts; rewrites the line of a terminal.
  void tick();
  // After the last run.
  void done(size_t runs, size_t failed, const std::string& folder);

 private:
  [[nodiscard]] std::string time_left() const;
  void draw();

  bool quiet_;
  util::StatusLine line_;
  report::TextStyle style_;
  size_t number_ = 0, total_ = 0;
  std::string name_, last_;
  uint64_t begun_ns_ = 0, drawn_ns_ = 0;
  std::map<Cell, std::vector<double>> spent_s_;
  std::map<Cell, size_t> left_;
};

}  // namespace mlrun::sweep
