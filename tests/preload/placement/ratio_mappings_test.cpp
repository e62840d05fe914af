// SPDX-License-Identifier: Apache-2.0
// Which mappings a ratio has placed, and how many pieces are alive.
#include <cstdint>

#include <gtest/gtest.h>

extern "C" {
#include "preload/placement/pages.h"
#include "preload/placement/ratio_mappings.h"
}

namespace {

constexpr size_t kBytes = size_t{1} << 20;
constexpr uint32_t kPieces = 8, kEntries = 8192;

int64_t alive;
bool kernel_moves_pieces;

char* address(uint64_t number) { return reinterpret_cast<char*>((uint64_t{1} << 45) + number * kBytes); }  // NOLINT

}  // namespace

extern "C" {

void* pages_map(void* /*at*/, size_t /*bytes*/) { return address(0); }
void pages_unmap(void* /*at*/, size_t /*bytes*/) {}
bool pages_move(void* /*at*/, size_t /*bytes*/, void* /*to*/) { return kernel_moves_pieces; }

uint32_t ratio_apply(const struct mlrun_place_rule* /*rule*/, char* /*at*/, uint64_t /*pages*/,
                     enum bound_pages /*which*/) {
  alive += kPieces;
  return kPieces;
}

uint32_t ratio_apply_whole(const struct mlrun_place_rule* /*rule*/, char* /*at*/, size_t /*bytes*/,
                           enum bound_pages /*which*/) {
  alive += 1;
  return 1;
}

void ratio_end_pieces(uint32_t pieces) { alive -= pieces; }

}  // extern "C"

namespace mlrun::preload_test {
namespace {

class RatioMappings : public testing::Test {
 protected:
  RatioMappings() { open(true); }

  ~RatioMappings() override {
    for (uint64_t i = 0; i < 2 * kEntries; i++) unmap(i);
    EXPECT_EQ(alive, 0);
  }

  static void open(bool moves) {
    kernel_moves_pieces = moves;
    ratio_mappings_open();
  }

  static bool place(uint64_t number) { return ratio_mapping_place(5, nullptr, address(number), kBytes, kNewOnly); }

  static uint32_t unmap(uint64_t number, size_t bytes = kBytes) { return unmap_from(address(number), bytes); }

  static uint32_t unmap_from(char* at, size_t bytes) {
    const int64_t before = alive;
    ratio_mappings_end(at, bytes);
    return static_cast<uint32_t>(before - alive);
  }
};

TEST_F(RatioMappings, PiecesEndWithTheirMapping) {
  EXPECT_TRUE(place(1));
  EXPECT_TRUE(place(2));
  EXPECT_EQ(alive, 2 * kPieces);
  EXPECT_EQ(unmap(1), kPieces);
  EXPECT_EQ(unmap(1), 0u);
  EXPECT_EQ(alive, kPieces);
}

TEST_F(RatioMappings, PiecesOfAPartEndWithIt) {
  EXPECT_TRUE(place(1));
  EXPECT_EQ(unmap(1, kBytes / 4), kPieces / 4);
  EXPECT_EQ(unmap_from(address(1) + 3 * kBytes / 4, kBytes / 4), kPieces / 4);
  EXPECT_EQ(unmap(1, kBytes / 4), 0u);
  const ratio_mapping left = ratio_mapping_take(address(1) + kBytes / 4, kBytes / 2);
  EXPECT_EQ(left.pieces, kPieces / 2);
  EXPECT_EQ(left.rule, 5u);
  ratio_end_pieces(left.pieces);
}

TEST_F(RatioMappings, BothEndsOfAMappingAreFoundWhenItsMiddleIsGone) {
  EXPECT_TRUE(place(1));
  EXPECT_EQ(unmap_from(address(1) + kBytes / 4, kBytes / 4), kPieces / 4);
  EXPECT_EQ(unmap(1, kBytes / 4), kPieces / 4);
  EXPECT_EQ(unmap_from(address(1) + kBytes / 2, kBytes / 2), kPieces / 2);
}

TEST_F(RatioMappings, SeveralEndTogether) {
  for (uint64_t i = 1; i < 5; i++) EXPECT_TRUE(place(i));
  EXPECT_EQ(unmap_from(address(1) + kBytes / 2, 3 * kBytes), 3 * kPieces);
  EXPECT_EQ(unmap(1), kPieces / 2);
  EXPECT_EQ(unmap(4), kPieces / 2);
}

// They map more than they need and unmap both ends.
TEST_F(RatioMappings, AllocatorsThatCutMappingsForAlignmentUseUpNoEntries) {
  for (uint64_t i = 0; i < 4 * kEntries; i++) {
    ASSERT_TRUE(place(i)) << i;
    unmap(i, kBytes / 4);
    unmap_from(address(i) + 3 * kBytes / 4, kBytes / 4);
    EXPECT_EQ(unmap_from(address(i) + kBytes / 4, kBytes / 2), kPieces / 2);
  }
}

TEST_F(RatioMappings, AMappingIsFoundAgainWhereItWasMovedTo) {
  EXPECT_TRUE(place(1));
  const ratio_mapping taken = ratio_mapping_take(address(1), kBytes);
  EXPECT_EQ(taken.rule, 5u);
  ratio_mapping_put(&taken, address(3), 4 * kBytes);
  EXPECT_EQ(unmap(1), 0u);
  EXPECT_EQ(ratio_mapping_take(address(3), kBytes).pieces, 0u);  // it is larger now
  EXPECT_EQ(unmap(3, 4 * kBytes), kPieces);
}

TEST_F(RatioMappings, AMappingWhoseAddressIsUsedAgainIsGone) {
  EXPECT_TRUE(place(1));
  EXPECT_TRUE(place(1));
  EXPECT_EQ(alive, kPieces);
}

TEST_F(RatioMappings, TooManyAreLeftAlone) {
  uint32_t placed = 0;
  for (uint64_t i = 0; i < 2 * kEntries; i++) placed += place(i) ? 1 : 0;
  EXPECT_GT(placed, kEntries / 2);
  EXPECT_LE(placed, kEntries);
  EXPECT_EQ(alive, int64_t{placed} * kPieces);
}

TEST_F(RatioMappings, AMappingThatTheKernelCouldNotMoveIsNotSplit) {
  open(false);
  EXPECT_TRUE(place(1));
  EXPECT_EQ(unmap(1), 1u);
}

}  // namespace
}  // namespace mlrun::preload_test
