// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/stack_batch.h"

#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun {
namespace {

// Its payload, as far as these tests ask.
struct Read {
  explicit Read(const std::string& payload) {
    std::memcpy(&head, payload.data(), sizeof head);
    EXPECT_EQ(head.sample_bytes, sizeof(mlrun_python_sample));
    samples.resize(head.samples);
    std::memcpy(samples.data(), payload.data() + sizeof head, head.samples * sizeof(mlrun_python_sample));
  }
  mlrun_frame_python head{};
  std::vector<mlrun_python_sample> samples;
};

class StackBatch : public ::testing::Test {
 protected:
  StackBatch() {
    const auto here = std::make_shared<python::Code>(), there = std::make_shared<python::Code>();
    here->file = there->file = "train.py";
    here->function = "here";
    there->function = "there";
    stack_.frames = {{here, 7}, {there, 9}};
    other_.frames = {{here, 8}, {there, 9}};
  }
  python::Stack stack_, other_;
  python::StackBatch batch_;
};

TEST_F(StackBatch, ASleepingThreadThatDoesNotMoveHasOneRow) {
  for (uint64_t ns : {10, 20, 30}) batch_.add(ns, 10, {1, 2, 'S'}, stack_);
  batch_.add(40, 10, {1, 2, 'S'}, other_);
  batch_.add(50, 10, {1, 2, 'S'}, stack_);
  const Read read(batch_.take());
  ASSERT_EQ(read.samples.size(), 3u);
  EXPECT_EQ(read.samples[0].first_ns, 10u);
  EXPECT_EQ(read.samples[0].last_ns, 30u);
  EXPECT_EQ(read.samples[0].samples, 3u);
  EXPECT_EQ(read.samples[0].period_ns, 30u);
  EXPECT_EQ(read.samples[0].running, 0);
  EXPECT_EQ(read.samples[0].state, static_cast<uint32_t>('S'));
  EXPECT_EQ(read.samples[2].stack, read.samples[0].stack);
  EXPECT_TRUE(batch_.empty());
}

TEST_F(StackBatch, AThreadThatSleepsAtTheSamePlaceInTheNextRoundOfItsLoopHasAnotherRow) {
  stack_.loops = "train.py:1:3 range@10 7/9";
  batch_.add(10, 10, {1, 2, 'S'}, stack_);
  batch_.add(20, 10, {1, 2, 'S'}, stack_);
  stack_.loops = "train.py:1:3 range@10 8/9";
  batch_.add(30, 10, {1, 2, 'S'}, stack_);
  const Read read(batch_.take());
  ASSERT_EQ(read.samples.size(), 2u);
  EXPECT_EQ(read.samples[0].samples, 2u);
  EXPECT_EQ(read.samples[0].stack, read.samples[1].stack);
  EXPECT_NE(read.samples[0].loops, read.samples[1].loops);
}

TEST_F(StackBatch, ARunningThreadHasARowForEachSample) {
  for (uint64_t ns : {10, 20}) batch_.add(ns, 10, {1, 2, 'R'}, stack_);
  batch_.add(30, 10, {1, 2, 'S'}, stack_);
  batch_.add(30, 10, {1, 3, 'S'}, stack_);
  batch_.add(30, 10, {2, 2, 0}, stack_);
  EXPECT_EQ(Read(batch_.take()).samples.size(), 5u);
}

TEST_F(StackBatch, AnotherStateOrInterpreterIsAnotherRow) {
  batch_.add(10, 10, {1, 2, 'S', 100}, stack_);
  batch_.add(20, 10, {1, 2, 'D', 100}, stack_);
  batch_.add(20, 10, {1, 2, 'S', 200}, stack_);
  EXPECT_EQ(Read(batch_.take()).samples.size(), 3u);
}

TEST_F(StackBatch, AThreadThatHasNotRunExtendsItsRowWithoutItsStack) {
  EXPECT_FALSE(batch_.extend(5, 5, {1, 2, 'S'})) << "in no row yet";
  batch_.add(10, 5, {1, 2, 'S'}, stack_);
  EXPECT_TRUE(batch_.extend(25, 15, {1, 2, 'S'}));
  const Read read(batch_.take());
  ASSERT_EQ(read.samples.size(), 1u);
  EXPECT_EQ(read.samples[0].last_ns, 25u);
  EXPECT_EQ(read.samples[0].period_ns, 20u);
  EXPECT_FALSE(batch_.extend(30, 5, {1, 2, 'S'})) << "the row is in a batch of before";
}

TEST_F(StackBatch, EqualThingsAreInAFrameOnce) {
  for (uint32_t tid = 1; tid <= 100; ++tid) batch_.add(tid, 1, {1, tid, 'R'}, tid % 2 == 0 ? stack_ : other_);
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
  batch_.add(1, 1, {1, 2, 'R'}, stack_);
  stack_.cut = true;
  batch_.add(2, 1, {1, 2, 'R'}, stack_);
  EXPECT_EQ(Read(batch_.take()).head.stacks, 2u);
}

}  // namespace
}  // namespace mlrun
