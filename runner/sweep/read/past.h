// SPDX-License-Identifier: Apache-2.0
// One figure over sweeps of several commits: the points of a series for each configuration and workload, and where its level
// changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/sweep/read/cells.h"
#include "runner/sweep/statistics/change_points.h"

namespace mlrun::sweep {

struct PastPoint {
  std::string folder;
  std::string commit;  // empty: unknown
  int64_t created_realtime_ns = 0;
  Description description;
};

struct PastSeries {
  std::string configuration, workload;
  std::vector<PastPoint> points;
  std::vector<ChangePoint> changes;  // change points of the means of `points`
};

// Sweeps in the order given. Series are in the order in which they first appear.
std::vector<PastSeries> past_of(const std::vector<Sweep>& sweeps, const std::string& figure);

// Each folder if it is a sweep or holds none, else the sweeps in it.
std::vector<std::string> sweep_folders(const std::vector<std::string>& folders);

// The commit that the first run with one has stored; empty: no run has one.
std::string commit_of(const Sweep& sweep);

}  // namespace mlrun::sweep
