// SPDX-License-Identifier: Apache-2.0
// The start and the end of a sampler's thread.
#include "runner/util/sampler_thread.h"

#include <new>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

constexpr std::chrono::seconds kLong(60);

std::string problem_of(const std::shared_ptr<SamplerShared>& shared) {
  const std::lock_guard lock(shared->mutex);
  EXPECT_FALSE(shared->runs);
  return shared->problem;
}

TEST(SamplerThread, AThreadThatFindsNoMemoryEndsTheSamplerAlone) {
  const auto shared = std::make_shared<SamplerShared>();
  start_sampler_thread(shared, "test", [] { throw std::bad_alloc(); });
  shared->end(kLong);
  EXPECT_EQ(problem_of(shared), "the sampler ended early: std::bad_alloc");
}

TEST(SamplerThread, AnExceptionWithTheMutexHeldEndsTheSamplerAlone) {
  const auto shared = std::make_shared<SamplerShared>();
  start_sampler_thread(shared, "test", [shared] {
    const std::lock_guard lock(shared->mutex);
    throw std::bad_alloc();
  });
  shared->end(kLong);
  EXPECT_EQ(problem_of(shared), "the sampler ended early: std::bad_alloc");
}

TEST(SamplerThread, TheEndWakesTheThreadAndWaitsForIt) {
  const auto shared = std::make_shared<SamplerShared>();
  bool is_awake = false;
  start_sampler_thread(shared, "test", [shared, &is_awake] {
    std::unique_lock lock(shared->mutex);
    shared->wake.wait(lock, [&] { return shared->stop; });
    is_awake = true;
  });
  shared->end(kLong);
  EXPECT_EQ(problem_of(shared), "");
  EXPECT_TRUE(is_awake);
}

TEST(SamplerThread, AThreadThatDoesNotReturnIsNotWaitedForLongerThanGiven) {
  const auto shared = std::make_shared<SamplerShared>();
  const auto gate = std::make_shared<std::mutex>();
  std::unique_lock closed(*gate);
  start_sampler_thread(shared, "test", [gate] { const std::lock_guard passed(*gate); });
  shared->end(std::chrono::milliseconds(1));
  {
    const std::lock_guard lock(shared->mutex);
    EXPECT_TRUE(shared->runs);
  }
  closed.unlock();
  shared->end(kLong);
  EXPECT_EQ(problem_of(shared), "");
}

TEST(SamplerThread, ASamplerThatWasNotStartedEndsAtOnce) {
  const auto shared = std::make_shared<SamplerShared>();
  const auto began = std::chrono::steady_clock::now();
  shared->end(kLong);
  EXPECT_LT(std::chrono::steady_clock::now() - began, kLong / 2);
}

}  // namespace
}  // namespace mlrun::util
