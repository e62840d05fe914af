// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/kernel_tail.h"

#include <cstdlib>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runner/monitor/kernel_file.h"

namespace mlrun::monitor {
namespace {

class KernelTailTest : public testing::Test {
 protected:
  KernelFile file_;
  KernelTail tail_{file_.path()};

  std::vector<uint32_t> pids() {
    std::vector<uint32_t> result;
    tail_.read([&](const decode::KernelReader& record) { result.push_back(record.head().pid); });
    return result;
  }
};

TEST_F(KernelTailTest, RecordsComeOnceAndInTheirOrder) {
  EXPECT_EQ(pids(), std::vector<uint32_t>());
  file_.add_frame({task(1), task(2)});
  EXPECT_EQ(pids(), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(pids(), std::vector<uint32_t>());
  file_.add_frame({task(3)});
  file_.add_frame({task(4)});
  EXPECT_EQ(pids(), (std::vector<uint32_t>{3, 4}));
}

TEST_F(KernelTailTest, AnIncompleteFrameIsReadLater) {
  const std::string frame = frame_of({task(1), task(2)});
  for (size_t bytes = 0; bytes < frame.size(); bytes += 8) {
    file_.add(frame.substr(bytes, 8));
    // What follows the payload up to the next frame says nothing.
    if (bytes + 8 < sizeof(mlrun_frame) + 2 * sizeof(mlrun_task)) {
      ASSERT_EQ(pids(), std::vector<uint32_t>()) << bytes;
    }
  }
  EXPECT_EQ(pids(), (std::vector<uint32_t>{1, 2}));
  file_.add_frame({task(3)});
  EXPECT_EQ(pids(), (std::vector<uint32_t>{3}));
}

TEST_F(KernelTailTest, PaddingLeadsToTheNextBlock) {
  file_.add_frame({task(1)});
  file_.add(frame_of({}, MLRUN_FRAME_PAD));
  EXPECT_EQ(pids(), (std::vector<uint32_t>{1}));
  EXPECT_EQ(tail_.offset(), MLRUN_SPOOL_CHUNK_BYTES);
  file_.go_to(MLRUN_SPOOL_CHUNK_BYTES);
  file_.add_frame({task(2)});
  EXPECT_EQ(pids(), (std::vector<uint32_t>{2}));
}

TEST_F(KernelTailTest, ADamagedFrameIsIgnored) {
  std::string frame = frame_of({task(1)});
  frame[sizeof(mlrun_frame) + 17] ^= 1;
  file_.add(frame);
  EXPECT_EQ(pids(), std::vector<uint32_t>());
  EXPECT_EQ(tail_.offset(), 0u);
}

TEST(KernelTail, WithoutAFileThereIsNothing) {
  KernelTail tail("/nowhere/kernel.bin");
  EXPECT_FALSE(tail.read([](const decode::KernelReader&) { FAIL(); }));
}

}  // namespace
}  // namespace mlrun::monitor
