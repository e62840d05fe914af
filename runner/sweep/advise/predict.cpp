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

constexpr double kLeastRatio = 1e-3;

// Times of the runs of one block.
struct Block {
  double near = 0, far = 0;
  std::map<size_t, double> alone;  // by site

  [[nodiscard]] double saved_alone(size_t site) const { return far - alone.at(site); }
  [[nodiscard]] double explained() const {
    return std::accumulate(alone.begin(), alone.end(), 0.0,
                           [&](double sum, const auto& one) { return sum + far - one.second; });
  }
  // Time that all sites together save beyond the sum of those measured alone.
  [[nodiscard]] double rest() const { return far - near - explained(); }
};

std::optional<double> value_in(const Series& series, int32_t block) {
  const auto found =
      std::find_if(series.begin(), series.end(), [&](const Observation& one) { return one.block == block; });
  return found == series.end() ? std::nullopt : std::optional(found->value);
}

// Weight of all blocks that were not measured alone.
double weight_beyond(const Calibration& calibration) {
  double beyond = calibration.weight_elsewhere;
  for (size_t site = 0; site < calibration.weights.size(); site++) {
    if (!calibration.alone.contains(site)) beyond += calibration.weights[site];
  }
  return beyond;
}

// The time of a block without a run that has everything on the fast memory: each weight saves as much as those measured alone.
double guessed_near(const Block& block, const Calibration& calibration) {
  double measured = 0;
  for (const auto& [site, runs] : calibration.alone) measured += calibration.weights[site];
  const double all = measured + weight_beyond(calibration);
  return std::max(kLeastRatio * block.far, block.far - block.explained() * all / std::max(measured, 1e-300));
}

// The blocks that have a run of every configuration.
std::map<int32_t, Block> whole_blocks(const Calibration& calibration) {
  std::map<int32_t, Block> blocks;
  for (const Observation& far : calibration.far) {
    const auto near = value_in(calibration.near, far.block);
    if (!near && !calibration.near.empty()) continue;
    Block block{near.value_or(0), far.value, {}};
    for (const auto& [site, runs] : calibration.alone) {
      if (const auto time = value_in(runs, far.block)) block.alone[site] = *time;
    }
    if (block.alone.size() != calibration.alone.size()) continue;
    if (!near) block.near = guessed_near(block, calibration);
    blocks[far.block] = std::move(block);
  }
  return blocks;
}

double mean_of(const std::map<int32_t, Block>& blocks, const std::function<double(const Block&)>& value) {
  double sum = 0;
  for (const auto& [number, block] : blocks) sum += value(block);
  return blocks.empty() ? 0 : sum / static_cast<double>(blocks.size());
}

// How far the predicted change may be off beyond the scatter of the runs. `saved`: predicted, as a fraction.
double unsure(const Calibration& calibration, const std::map<int32_t, Block>& blocks, const std::vector<size_t>& chosen,
              double share, double saved) {
  if (chosen.empty()) return 0;
  if (!calibration.near.empty()) {
    // Time that the sites measured alone do not explain. Other sites may save any part of it; without other sites it shows that gains do
    // not add up.
    const double unexplained = mean_of(blocks, [](const Block& block) { return block.rest() / block.far; });
    return std::abs(unexplained) * (weight_beyond(calibration) > 0 ? std::max(share, 0.1) : 0.5);
  }
  // Only what one site saves alone is certain: the others may save nothing beside it, or twice as much as alone.
  double largest = 0;
  for (const size_t site : chosen) {
    if (!calibration.alone.contains(site)) continue;
    largest =
        std::max(largest, mean_of(blocks, [&](const Block& block) { return block.saved_alone(site) / block.far; }));
  }
  return std::abs(saved - largest);
}

}  // namespace

std::vector<double> site_gains(const Calibration& calibration) {
  const auto blocks = whole_blocks(calibration);
  const double beyond = weight_beyond(calibration);
  const double rest = std::max(0.0, mean_of(blocks, [](const Block& block) { return block.rest(); }));
  std::vector<double> gains;
  for (size_t site = 0; site < calibration.weights.size(); site++) {
    const double gain = calibration.alone.contains(site)
                            ? mean_of(blocks, [&](const Block& block) { return block.saved_alone(site); })
                            : rest * calibration.weights[site] / std::max(beyond, 1e-300);
    gains.push_back(std::max(0.0, gain));
  }
  return gains;
}

size_t complete_blocks(const Calibration& calibration) { return whole_blocks(calibration).size(); }

Status check_blocks(const Calibration& calibration) {
  const size_t blocks = complete_blocks(calibration);
  if (blocks >= kLeastBlocks) return {};
  return fail(fmt::format(
      "only {} blocks of calibration runs are complete, and a prediction needs {}; see mlrun sweep list OUT", blocks,
      kLeastBlocks));
}

Result<Prediction> predict(const Calibration& calibration, const std::vector<size_t>& chosen) {
  const auto blocks = whole_blocks(calibration);
  const double beyond = weight_beyond(calibration);
  double share = 0;  // weight of the chosen sites that were not measured alone, of all such sites
  for (const size_t site : chosen) {
    if (!calibration.alone.contains(site) && beyond > 0) share += calibration.weights[site] / beyond;
  }
  const bool is_near = !calibration.near.empty() && chosen.size() == calibration.weights.size() &&
                       calibration.weight_elsewhere <= 0;  // all that was on the fast memory in those runs
  Series ratios;                                           // of each block: predicted time to time on the slow memory
  for (const auto& [number, block] : blocks) {
    double time = block.far - share * std::max(0.0, block.rest());
    for (const size_t site : chosen) {
      if (calibration.alone.contains(site)) time -= block.saved_alone(site);
    }
    if (is_near) time = block.near;
    ratios.push_back({number, number, std::max(kLeastRatio, time / block.far)});
  }
  const Description ratio = describe(ratios);
  if (!ratio.interval) return fail("the calibration runs have no times");
  Prediction prediction;
  prediction.change = std::sqrt(ratio.interval->low * ratio.interval->high) - 1;
  const double wider = is_near ? 0 : unsure(calibration, blocks, chosen, share, -prediction.change);
  prediction.low = std::max(kLeastRatio, ratio.interval->low - wider) - 1;
  prediction.high = ratio.interval->high - 1 + wider;
  if (!calibration.near.empty()) prediction.near_s = mean_of(blocks, [](const Block& block) { return block.near; });
  prediction.far_s = mean_of(blocks, [](const Block& block) { return block.far; });
  prediction.blocks = static_cast<int64_t>(blocks.size());
  return prediction;
}

}  // namespace mlrun::sweep
