// SPDX-License-Identifier: Apache-2.0
// A comparison of ten runs with ten.
#pragma once

#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {

inline Comparison compared(double difference, double low, double high, Verdict verdict) {
  Comparison c;
  c.n_a = c.n_b = 10;
  c.a = 2;
  c.b = 2 * (1 + difference);
  c.difference = difference;
  c.low = low;
  c.high = high;
  c.method = Method::kPairedLogT;
  c.verdict = verdict;
  c.margin = 0.03;
  return c;
}

}  // namespace mlrun::sweep
