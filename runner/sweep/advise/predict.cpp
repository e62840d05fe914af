// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/predict.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

namespace mlrun::sweep {

namespace {

constexpr size_t kLeastBlocks = 3;
constexpr double kLeastRatio = 1e-3;

// Times of the runs of one block.
struct Block {
  double near = 0, far = 0;
  std::vector<double> alone;

  [[nodiscard]] double explained() const {
    return std::accumulate(alone.begin(), alone.end(), 0.0, [&](double sum, double time) { return sum + far - time; });
  }
  // Time that all sites together save beyond the sum of those measured alone.
  [[nodiscard]] double rest() const { return far - near - explained(); }
};

std::optional<double> value_in(const Series& series, int32_t block) {
  const auto found =
      std::find_if(series.begin(), series.end(), [&](const Observation& one) { return one.block == block; });
  return found == series.end() ? std::nullopt : std::optional(found->value);
}

// The blocks that have a run of every configuration.
std::map<int32_t, Block> whole_blocks(const Calibration& calibration) {
  std::map<int32_t, Block> blocks;
  for (const Observation& far : calibration.far) {
    const auto near = value_in(calibration.near, far.block);
    Block block{near.value_or(0), far.value, {}};
    for (const Series& one : calibration.alone) {
      if (const auto time = value_in(one, far.block)) block.alone.push_back(*time);
    }
    if (near && block.alone.size() == calibration.alone.size()) blocks[far.block] = std::move(block);
  }
  return blocks;
}

double mean_of(const std::map<int32_t, Block>& blocks, const std::function<double(const Block&)>& value) {
  double sum = 0;
  for (const auto& [number, block] : blocks) sum += value(block);
  return blocks.empty() ? 0 : sum / static_cast<double>(blocks.size());
}

double weight_beyond(const Calibration& calibration) {
  const size_t measured = std::min(calibration.alone.size(), calibration.weights.size());
  return std::accumulate(calibration.weights.begin() + static_cast<std::ptrdiff_t>(measured), calibration.weights.end(),
                         calibration.weight_elsewhere);
}

}  // namespace

std::vector<double> site_gains(const Calibration& calibration) {
  const auto blocks = whole_blocks(calibration);
  const double beyond = weight_beyond(calibration);
  const double rest = std::max(0.0, mean_of(blocks, [](const Block& block) { return block.rest(); }));
  std::vector<double> gains;
  for (size_t site = 0; site < calibration.weights.size(); site++) {
    const double gain = site < calibration.alone.size()
                            ? mean_of(blocks, [&](const Block& block) { return block.far - block.alone[site]; })
                            : rest * calibration.weights[site] / std::max(beyond, 1e-300);
    gains.push_back(std::max(0.0, gain));
  }
  return gains;
}

Result<Prediction> predict(const Calibration& calibration, const std::vector<size_t>& chosen) {
  const auto blocks = whole_blocks(calibration);
  if (blocks.size() < kLeastBlocks) {
    return fail(fmt::format(
        "only {} blocks of calibration runs are complete, and a prediction needs {}; see mlrun sweep list OUT",
        blocks.size(), kLeastBlocks));
  }
  const double beyond = weight_beyond(calibration);
  double share = 0;  // weight of the chosen sites that were not measured alone, of all such sites
  for (const size_t site : chosen) {
    if (site >= calibration.alone.size() && beyond > 0) share += calibration.weights[site] / beyond;
  }
  const bool takes_all = chosen.size() == calibration.weights.size() && calibration.weight_elsewhere <= 0;
  Series ratios;  // of each block: predicted time to time on the slow memory
  double unexplained = 0;
  for (const auto& [number, block] : blocks) {
    double time = block.far - share * std::max(0.0, block.rest());
    for (const size_t site : chosen) {
      if (site < block.alone.size()) time -= block.far - block.alone[site];
    }
    if (takes_all) time = block.near;
    ratios.push_back({number, number, std::max(kLeastRatio, time / block.far)});
    unexplained += block.rest() / block.far / static_cast<double>(blocks.size());
  }
  const Description ratio = describe(ratios);
  if (!ratio.interval) return fail("the calibration runs have no times");
  // Time that the sites measured alone do not explain. Other sites may save any part of it; without other sites it shows that gains do
  // not add up.
  const double unsure =
      takes_all || chosen.empty() ? 0 : std::abs(unexplained) * (beyond > 0 ? std::max(share, 0.1) : 0.5);
  Prediction prediction;
  prediction.change = std::sqrt(ratio.interval->low * ratio.interval->high) - 1;
  prediction.low = ratio.interval->low - 1 - unsure;
  prediction.high = ratio.interval->high - 1 + unsure;
  prediction.near_s = mean_of(blocks, [](const Block& block) { return block.near; });
  prediction.far_s = mean_of(blocks, [](const Block& block) { return block.far; });
  prediction.blocks = static_cast<int64_t>(blocks.size());
  return prediction;
}

}  // namespace mlrun::sweep
