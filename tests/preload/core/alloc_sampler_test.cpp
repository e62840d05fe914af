// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "runner/summary/meters/sample_weight.h"

extern "C" {
#include "preload/alloc/sampled_blocks.h"
#include "preload/core/alloc_sampler.h"
}

namespace mlrun::preload_test {
namespace {

constexpr int kSeeds = 600;
constexpr int64_t kMean = 64 << 10;

// Sizes from one byte to several times the mean distance, small ones far more often.
std::vector<int64_t> mixed_sizes() {
  std::mt19937 random(7);
  std::vector<int64_t> sizes;
  for (int i = 0; i < 20000; i++) {
    const double power = 18.5 * std::pow(double(random() % 100000) / 100000, 2);
    sizes.push_back(int64_t(std::exp2(power)));
  }
  return sizes;
}

struct Estimate {
  double count = 0, bytes = 0;
};

Estimate estimate(const std::vector<int64_t>& sizes, uint64_t seed, int64_t low, int64_t high) {
  alloc_sampler sampler{};
  Estimate sum;
  for (const int64_t size : sizes) {
    if (!sampler_picks(&sampler, size_t(size), seed) || size < low || size >= high) continue;
    const double weight = summary::sample_weight(size, kMean);
    sum.count += weight;
    sum.bytes += weight * double(size);
  }
  return sum;
}

// The mean over the seeds lies within four standard errors of the truth (a sound estimator fails once in 16,000).
void expect_unbiased(const std::vector<double>& estimates, double truth, const char* what) {
  double mean = 0, variance = 0;
  for (const double value : estimates) mean += value / double(estimates.size());
  for (const double value : estimates) variance += (value - mean) * (value - mean) / double(estimates.size() - 1);
  const double error = std::sqrt(variance / double(estimates.size()));
  EXPECT_NEAR(mean, truth, 4 * error + 1e-9 * truth) << what << ": standard error " << error;
  EXPECT_LT(error, truth / 5) << what << " would hardly be tested";
}

TEST(AllocSampler, EstimatesOverManySeedsAverageToTheTruth) {
  sample_bytes = kMean;
  const std::vector<int64_t> sizes = mixed_sizes();
  constexpr std::array<int64_t, 5> kBounds = {1, 256, 8192, 65536, int64_t{1} << 40};
  for (size_t i = 0; i < kBounds.size(); i++) {
    const int64_t low = i == 0 ? 1 : kBounds[i - 1], high = i == 0 ? kBounds.back() : kBounds[i];
    std::vector<double> counts, bytes;
    for (uint64_t seed = 1; seed <= kSeeds; seed++) {
      const Estimate sum = estimate(sizes, seed * 0x1234567, low, high);
      counts.push_back(sum.count);
      bytes.push_back(sum.bytes);
    }
    double count = 0, all = 0;
    for (const int64_t size : sizes) {
      if (size < low || size >= high) continue;
      count += 1;
      all += double(size);
    }
    expect_unbiased(counts, count, ("blocks of " + std::to_string(low) + " to " + std::to_string(high)).c_str());
    expect_unbiased(bytes, all, ("bytes in blocks of " + std::to_string(low) + " to " + std::to_string(high)).c_str());
  }
}

TEST(AllocSampler, ABlockIsPickedWithItsProbability) {
  for (const int64_t size : {int64_t{1000}, kMean, 3 * kMean}) {
    sample_bytes = kMean;
    alloc_sampler sampler{};
    constexpr int kBlocks = 400000;
    int picked = 0;
    for (int i = 0; i < kBlocks; i++) picked += sampler_picks(&sampler, size_t(size), 99);
    const double p = 1 / summary::sample_weight(size, kMean);
    EXPECT_NEAR(picked, kBlocks * p, 5 * std::sqrt(kBlocks * p * (1 - p)));
  }
}

TEST(AllocSampler, NothingAndTooMuchDoNoHarm) {
  sample_bytes = 2;
  alloc_sampler sampler{};
  (void)sampler_picks(&sampler, 0, 1);
  EXPECT_TRUE(sampler_picks(&sampler, SIZE_MAX, 1));
  EXPECT_NE(sampler.random, 0u);
}

TEST(SampledBlocks, HoldsWhatWasAddedUntilItIsRemoved) {
  const auto block = [](uint64_t i) { return reinterpret_cast<const void*>(0x7f0000000000 + i * 0x210); };
  for (uint64_t i = 0; i < 50000; i++) ASSERT_TRUE(sampled_blocks_add(block(i))) << i;
  EXPECT_FALSE(sampled_blocks_remove(block(50001)));
  for (uint64_t i = 0; i < 50000; i++) ASSERT_TRUE(sampled_blocks_remove(block(i))) << i;
  EXPECT_FALSE(sampled_blocks_remove(block(7)));
  uint64_t added = 0;
  while (added < 1000000 && sampled_blocks_add(block(added))) added++;
  EXPECT_GT(added, 60000u);
  EXPECT_LT(added, 1000000u);
}

}  // namespace
}  // namespace mlrun::preload_test
