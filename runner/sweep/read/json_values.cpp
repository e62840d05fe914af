// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/json_values.h"

#include <cmath>

#include "runner/sweep/read/quantity.h"
#include "runner/util/json_at.h"

namespace mlrun::sweep {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json number_if(bool known, double value) { return known ? number(value) : Json(); }

Json bound(const std::optional<Interval>& interval, double Interval::*end) {
  return interval ? number((*interval).*end) : Json();
}

}  // namespace

Json json_of(const Description& d) {
  Json drift;
  if (d.drift) {
    drift = {{"slope", number(d.drift->slope)},
             {"low", number(d.drift->interval.low)},
             {"high", number(d.drift->interval.high)}};
  }
  return {{"n", d.n},
          {"median", number(d.median)},
          {"mean", number(d.mean)},
          {"sd", number_if(d.n >= 2, d.sd)},
          {"low", bound(d.interval, &Interval::low)},
          {"high", bound(d.interval, &Interval::high)},
          {"method", method_name(d.method)},
          {"min", number(d.min)},
          {"max", number(d.max)},
          {"median_low", bound(d.median_interval, &Interval::low)},
          {"median_high", bound(d.median_interval, &Interval::high)},
          {"drift", drift},
          {"bimodal", d.is_bimodal}};
}

Json json_of(const Comparison& c) {
  return {{"a", number(c.a)},
          {"b", number(c.b)},
          {"difference", number(c.difference)},
          {"low", number_if(has_interval(c), c.low)},
          {"high", number_if(has_interval(c), c.high)},
          {"verdict", verdict_name(has_enough_runs(c) ? c.verdict : Verdict::kCannotTell)},
          {"margin", c.margin},
          {"needs_runs", c.needs_runs ? Json(*c.needs_runs) : Json()},
          {"n_a", c.n_a},
          {"n_b", c.n_b},
          {"pairs", c.pairs},
          {"method", method_name(c.method)}};
}

std::string json_text(const Json& value) { return util::json_text(value, 2) + "\n"; }

}  // namespace mlrun::sweep
