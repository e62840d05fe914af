// SPDX-License-Identifier: Apache-2.0
#include "runner/util/drop_counts.h"

#include <cstring>
#include <set>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(DropCounts, ComeBackAsTheyWereWritten) {
  DropCounts counts{};
  counts[MLRUN_DROP_FULL][MLRUN_DROPPED_FILE_CALL] = 7;
  counts[MLRUN_DROP_GAVE_UP][MLRUN_DROPPED_OTHER] = uint64_t{1} << 40;
  const std::string payload = drops_payload(5, counts);
  EXPECT_EQ(payload.size(), sizeof(mlrun_frame_drops) + 2 * sizeof(mlrun_drop_entry)) << "only what is not 0";
  EXPECT_EQ(read_drops(payload.data(), payload.size()), counts);
  EXPECT_EQ(drops_of(counts, MLRUN_DROP_FULL), 7u);
  EXPECT_EQ(all_drops(counts), 7 + (uint64_t{1} << 40));
}

TEST(DropCounts, WithALaterVersionOrADamagedPayloadAreLeftOut) {
  DropCounts counts{};
  counts[MLRUN_DROP_FULL][MLRUN_DROPPED_MARK] = 3;
  std::string payload = drops_payload(5, counts);
  const mlrun_drop_entry later{MLRUN_DROP_REASONS, 1, 9}, unknown{0, MLRUN_DROPPED_KINDS, 9};
  payload.append(reinterpret_cast<const char*>(&later), sizeof later);
  payload.append(reinterpret_cast<const char*>(&unknown), sizeof unknown);
  const uint32_t entries = UINT32_MAX;
  std::memcpy(payload.data() + offsetof(mlrun_frame_drops, entries), &entries, sizeof entries);
  EXPECT_EQ(read_drops(payload.data(), payload.size()), counts);
  EXPECT_EQ(read_drops(payload.data(), sizeof(mlrun_frame_drops) + 15), DropCounts{});
  EXPECT_EQ(read_drops(payload.data(), 15), DropCounts{});
}

TEST(DropCounts, EachKindHasANameOfItsOwn) {
  std::set<std::string> names;
  for (int kind = 0; kind < MLRUN_DROPPED_KINDS; kind++) names.insert(name_of(static_cast<mlrun_dropped>(kind)));
  EXPECT_EQ(names.size(), size_t{MLRUN_DROPPED_KINDS});
}

}  // namespace
}  // namespace mlrun::util
