// SPDX-License-Identifier: Apache-2.0
// Adds up collectives by communicator and operation, and measures the spread of their ranks' begin times: the same
// number in the same communicator, over the processes of the run. Memory: kSumsMax sums, and for each communicator the
// last kPendingMost collectives with missing ranks, fewer if there are many communicators. Each has its own share, so
// that a communicator with most ranks on other machines does not displace the others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/model/collective.h"
#include "runner/summary/summary.h"
#include "runner/util/log_histogram.h"

namespace mlrun::summary {

class CollectiveMeter {
 public:
  void add(const model::CollectiveRow& row);

  // Returns the first kTopCollectives sums, the longest first. Call it once.
  std::vector<CollectiveSummary> finish();
  // Collectives whose ranks differ in operation or size: not compared.
  [[nodiscard]] int64_t differing() const { return differing_; }
  // Begin times that arrived after their collective was given up: not compared.
  [[nodiscard]] int64_t late() const { return late_; }

 private:
  static constexpr size_t kPendingMax = size_t{1} << 18, kPendingMost = 1024, kSumsMax = size_t{1} << 14;
  using Key = std::pair<std::string, std::string>;  // communicator, operation
  struct Sums {
    CollectiveSummary summary;
    util::LogHistogram skew;
    std::unordered_map<int32_t, int64_t> last;  // by process: number of times that it began last
  };
  struct Instance {
    Sums* sums = nullptr;
    int64_t bytes = 0, first_ns = 0, last_ns = 0, ranks = 0;
    int32_t last_proc_id = 0;
    bool differs = false;
  };
  struct Pending {
    std::map<int64_t, Instance> by_number;
    int64_t given_up = -1;  // the last number given up
  };

  Sums* sums_of(const model::CollectiveRow& row);
  void compare(const model::CollectiveRow& row, Sums* sums);
  void settle(const Instance& instance);
  void give_up_oldest(Pending& pending);

  std::map<Key, Sums> sums_;
  std::unordered_map<std::string, Pending> pending_;  // by communicator
  int64_t differing_ = 0, late_ = 0;
};

}  // namespace mlrun::summary
