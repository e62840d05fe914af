// SPDX-License-Identifier: Apache-2.0
// Finds accesses by DAMON, the kernel's monitor: a kernel thread checks one page of each memory region at a fixed rate. Needs root, and that no
// other program has configured DAMON.
#pragma once

#include <memory>
#include <string>

#include "runner/samplers/access/rung.h"

namespace mlrun::access {

struct DamonPlaces {
  std::string admin = "/sys/kernel/mm/damon/admin/kdamonds", tracing = "/sys/kernel/tracing";
};

// Why DAMON cannot be used; empty: it can. Leaves DAMON as it was: what another program has configured stays, also if it is off. What an mlrun that
// was killed has left is no problem; Rung::attach() removes it.
std::string damon_problem(const DamonPlaces& places);

std::unique_ptr<Rung> make_damon_rung(const DamonPlaces& places, uint64_t window_ns);

}  // namespace mlrun::access
