// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/gpu_file_batches.h"

#include <cstring>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

using events::CufileOperation;
using events::CufileResult;
using model::BatchStatus;

constexpr GpuFileBatches::Batch kBatch{10, 0x1000}, kOther{10, 0x2000};

CufileOperation operation(uint64_t cookie, uint64_t bytes) {
  CufileOperation operation;
  operation.cookie = cookie;
  operation.bytes = bytes;
  return operation;
}

CufileResult result(uint64_t cookie, int64_t moved, uint32_t status = events::kCufileComplete) {
  return {cookie, status, 0, moved};
}

TEST(GpuFileBatches, AResultIsOfTheOperationWithItsCookieInItsBatch) {
  GpuFileBatches batches;
  batches.hand_in(kBatch, 5, 1, operation(100, 10));
  batches.hand_in(kBatch, 5, 2, operation(200, 20));
  batches.hand_in(kOther, 6, 3, operation(100, 30));
  EXPECT_EQ(batches.since(kBatch), 5);
  const auto ends = batches.results(kBatch, 9, {result(200, 20), result(100, -5022, events::kCufileFailed)});
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].entry, 2u);
  EXPECT_EQ(ends[0].end_ns, 9);
  EXPECT_EQ(ends[0].status, BatchStatus::kComplete);
  EXPECT_EQ(ends[1].entry, 1u);
  EXPECT_EQ(ends[1].status, BatchStatus::kFailed);
  EXPECT_EQ(ends[1].result, -5022);
  EXPECT_EQ(batches.since(kBatch), INT64_MAX);
  EXPECT_TRUE(batches.results(kBatch, 10, {result(100, 10)}).empty()) << "it is over already";
  EXPECT_EQ(batches.unmatched(), 1);
  EXPECT_EQ(batches.guessed(), 0);
}

TEST(GpuFileBatches, WaitingOperationsAreNotComplete) {
  GpuFileBatches batches;
  batches.hand_in(kBatch, 5, 1, operation(100, 10));
  EXPECT_TRUE(batches.results(kBatch, 6, {result(100, 0, events::kCufilePending)}).empty());
  EXPECT_EQ(batches.results(kBatch, 7, {result(100, 10)}).size(), 1u);
}

TEST(GpuFileBatches, OperationsWithOneCookieAreMatchedBySizeThenByOrder) {
  GpuFileBatches batches;
  for (uint32_t i = 0; i < 3; ++i) batches.hand_in(kBatch, 5, i, operation(0, 10 * (i + 1)));
  EXPECT_EQ(batches.results(kBatch, 6, {result(0, 20)}).at(0).entry, 1u);
  EXPECT_EQ(batches.results(kBatch, 7, {result(0, 5)}).at(0).entry, 0u);
  EXPECT_EQ(batches.results(kBatch, 8, {result(0, 30)}).at(0).entry, 2u);
  EXPECT_EQ(batches.guessed(), 2);
}

TEST(GpuFileBatches, ACancelledOperationMayHaveCompleted) {
  GpuFileBatches batches;
  for (uint32_t i = 0; i < 3; ++i) batches.hand_in(kBatch, 5, i, operation(i, 10));
  batches.cancel(kBatch, 6);
  EXPECT_EQ(batches.results(kBatch, 7, {result(1, 10)}).at(0).status, BatchStatus::kComplete);
  batches.hand_in(kBatch, 8, 3, operation(3, 10));
  const auto ends = batches.destroy(kBatch, 9);
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_EQ(ends[0].status, BatchStatus::kCancelled);
  EXPECT_EQ(ends[0].end_ns, 6);
  EXPECT_EQ(ends[2].status, BatchStatus::kDestroyed);
  EXPECT_EQ(ends[2].end_ns, 9);
}

TEST(GpuFileBatches, AtTheEndOnlyThoseThatWereCancelledAreKnownToBeOver) {
  GpuFileBatches batches;
  batches.hand_in(kBatch, 5, 1, operation(1, 10));
  batches.hand_in(kOther, 5, 2, operation(1, 10));
  batches.cancel(kOther, 6);
  const auto ends = batches.finish();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].entry, 2u);
}

class CufilePartsTest : public ::testing::Test {
 protected:
  void part(uint32_t offset, uint32_t bytes, char with, uint64_t time_ns = 50) {
    mlrun_cufile_part part{};
    part.head.tid = 7;
    part.head.time_ns = time_ns;
    part.offset = offset;
    part.bytes = bytes;
    std::memset(part.entries, with, sizeof part.entries);
    parts_.add(part);
  }
  std::string take(uint64_t time_ns = 50) {
    mlrun_cufile_call call{};
    call.head.tid = 7;
    call.head.time_ns = time_ns;
    return parts_.take(call);
  }
  CufileParts parts_;
};

TEST_F(CufilePartsTest, PiecesMakeTheArrayOfTheirCall) {
  part(0, 1024, 'a');
  part(1024, 24, 'b');
  EXPECT_EQ(take(), std::string(1024, 'a') + std::string(24, 'b'));
  EXPECT_EQ(take(), "") << "they are of one call";
  part(0, 24, 'c');
  EXPECT_EQ(take(60), "") << "of another call, whose record is lost";
}

TEST_F(CufilePartsTest, PiecesAfterAMissingOneAreIgnored) {
  part(0, 1024, 'a');
  part(2048, 1024, 'c');
  EXPECT_EQ(take().size(), 1024u);
  part(1024, 1024, 'b');
  EXPECT_EQ(take(), "");
}

TEST_F(CufilePartsTest, ValuesOfDamagedPiecesAreBounded) {
  part(0, UINT32_MAX, 'a');
  for (uint32_t i = 1; i < 100; ++i) part(1024 * i, UINT32_MAX, 'b');
  EXPECT_EQ(take().size(), size_t{MLRUN_CUFILE_PARTS} * MLRUN_CUFILE_PART_BYTES);
}

}  // namespace
}  // namespace mlrun::trace
