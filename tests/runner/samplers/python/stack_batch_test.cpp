// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/stack_batch.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun {
namespace {

// Its payload, as far as these tests ask.
struct Read {
  explicit Read(const std::string& payload) {
    std::memcpy(&head, payload.data(), sizeof head);
    samples.resize(head.samples);
    std::memcpy(samples.data(), payload.data() + sizeof head, head.samples * sizeof(mlrun_python_sample));
  }
  mlrun_frame_python head{};
  std::vector<mlrun_python_sample> samples;
};

class StackBatch : public ::testing::Test {
 protected:
  StackBatch() {
    here_.file = there_.file = "train.py";
    here_.function = "here";
    there_.function = "there";
    stack_.frames = {{&here_, 7}, {&there_, 9}};
    other_.frames = {{&here_, 8}, {&there_, 9}};
  }
  python::Code here_, there_;
  python::Stack stack_, other_;
  python::StackBatch batch_;
};

TEST_F(StackBatch, ASleepingThreadThatDoesNotMoveHasOneRow) {
  for (uint64_t ns : {10, 20, 30}) batch_.add(ns, {1, 2, 0}, stack_);
  batch_.add(40, {1, 2, 0}, other_);
  batch_.add(50, {1, 2, 0}, stack_);
  const Read read(batch_.take());
  ASSERT_EQ(read.samples.size(), 3u);
  EXPECT_EQ(read.samples[0].first_ns, 10u);
  EXPECT_EQ(read.samples[0].last_ns, 30u);
  EXPECT_EQ(read.samples[0].looks, 3u);
  EXPECT_EQ(read.samples[2].stack, read.samples[0].stack);
  EXPECT_TRUE(batch_.empty());
}

TEST_F(StackBatch, ARunningThreadHasARowForEachLook) {
  for (uint64_t ns : {10, 20}) batch_.add(ns, {1, 2, 1}, stack_);
  batch_.add(30, {1, 2, 0}, stack_);
  batch_.add(30, {1, 3, 0}, stack_);
  batch_.add(30, {2, 2, -1}, stack_);
  EXPECT_EQ(Read(batch_.take()).samples.size(), 5u);
}

TEST_F(StackBatch, EqualThingsAreInAFrameOnce) {
  for (uint32_t tid = 1; tid <= 100; ++tid) batch_.add(tid, {1, tid, 1}, tid % 2 == 0 ? stack_ : other_);
  const size_t bytes = batch_.bytes();
  const std::string payload = batch_.take();
  const Read read(payload);
  EXPECT_EQ(bytes, payload.size());
  EXPECT_EQ(read.head.stacks, 2u);
  EXPECT_EQ(read.head.steps, 4u);
  EXPECT_EQ(read.head.frames, 3u);
  EXPECT_EQ(read.head.texts, 3u);
}

TEST_F(StackBatch, AStackThatWasCutIsAnother) {
  batch_.add(1, {1, 2, 1}, stack_);
  stack_.cut = true;
  batch_.add(2, {1, 2, 1}, stack_);
  EXPECT_EQ(Read(batch_.take()).head.stacks, 2u);
}

}  // namespace
}  // namespace mlrun
