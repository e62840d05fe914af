// SPDX-License-Identifier: Apache-2.0
// Accesses by DAMON, the kernel's own monitor of regions: one of its threads checks one page of each region every 5 ms. As root, and where
// nothing else uses it.
#pragma once

#include <memory>
#include <string>

#include "runner/samplers/access/rung.h"

namespace mlrun::access {

struct DamonPlaces {
  std::string admin = "/sys/kernel/mm/damon/admin/kdamonds", tracing = "/sys/kernel/tracing";
};

// Why it cannot be used; empty: it can.
std::string damon_problem(const DamonPlaces& places);

std::unique_ptr<Rung> make_damon_rung(const DamonPlaces& places, uint64_t window_ns);

}  // namespace mlrun::access
