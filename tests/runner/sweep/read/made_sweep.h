// SPDX-License-Identifier: Apache-2.0
// Sweeps in memory with figures that a function gives.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/sweep/store/rows.h"

namespace mlrun::sweep {

struct MadeOf {
  std::vector<std::string> configurations = {"dry", "full"};  // the one named dry is dry
  std::vector<std::string> workloads = {"train.py --workers 2"};
  int32_t blocks = 10;
  Order order = Order::kBlocks;
};

// wall_s of a run, by configuration, workload and block. user_s is half of it, sys_s a tenth.
using WallOf = std::function<double(uint32_t configuration, uint32_t workload, int32_t block)>;

Sweep made_sweep(const MadeOf& of, const WallOf& wall_s);

// Deterministic noise of a few tenths per cent around 1 that differs from run to run.
double noise(uint32_t configuration, uint32_t workload, int32_t block);

// Lines wider than `width`, and bytes beyond ASCII: both empty in good output.
std::string lines_wider_than(const std::string& text, size_t width);
std::string beyond_ascii(const std::string& text);

}  // namespace mlrun::sweep
