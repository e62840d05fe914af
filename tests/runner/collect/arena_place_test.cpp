// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/arena_place.h"

#include <string>

#include <gtest/gtest.h>

namespace mlrun::collect {
namespace {

TEST(ArenaPlace, IsNeverInAFolderWithACommaInItsName) {
  for (const auto& place : arena_places("/tmp/a,b", 8 << 20, true)) {
    EXPECT_EQ(place.path.find(','), std::string::npos);
  }
  const auto places = arena_places("/tmp/ab", 8 << 20, true);
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places.back().path, "/tmp/ab/arena.bin");
}

TEST(ArenaPlace, OnlyNamesOfOurShapeAreArenas) {
  EXPECT_TRUE(is_arena_name("mlrun-123-0123456789ab"));
  for (const char* other : {"mlrun-test-aMVhk1", "mlrun-1-0123456789a", "mlrun--0123456789ab", "mlrun-1-0123456789aB",
                            "mlrun-1", "sem.mlrun-1-0123456789ab"}) {
    EXPECT_FALSE(is_arena_name(other)) << other;
  }
}

}  // namespace
}  // namespace mlrun::collect
