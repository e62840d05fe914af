// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/frame_ranges.h"

#include <random>

#include <gtest/gtest.h>

#include "runner/util/radix_sort.h"

namespace mlrun::trace {
namespace {

// Frames of a clock that is the trace's own.
struct Frames {
  std::vector<FrameNote> notes;
  std::vector<std::vector<int64_t>> ends;  // of each frame's rows

  void add(std::vector<int64_t> rows) {
    FrameNote note;
    note.offset = notes.size() * (64 << 10);
    note.type = MLRUN_FRAME_DATA;
    note.rows = static_cast<uint32_t>(rows.size());
    note.min_end = static_cast<uint64_t>(*std::min_element(rows.begin(), rows.end()));
    note.max_end = static_cast<uint64_t>(*std::max_element(rows.begin(), rows.end()));
    notes.push_back(note);
    ends.push_back(std::move(rows));
  }

  [[nodiscard]] FrameRanges frame_ranges() const {
    FrameRanges list;
    for (const FrameNote& note : notes) list.add(note, MLRUN_CLOCK_MONOTONIC);
    list.place(*TraceClock::make({}, false));
    return list;
  }

  // Rows of a slice, read as the merger does: from its ranges alone.
  [[nodiscard]] uint64_t rows_of(const FrameRanges& list, const Slice& slice) const {
    uint64_t rows = 0;
    for (const FrameRange& range : list.ranges_of(slice)) {
      for (size_t i = 0; i < notes.size(); ++i) {
        const uint64_t offset = notes[i].offset;
        if (offset < range.begin || offset >= range.end || offset < slice.first_offset || offset >= slice.end_offset)
          continue;
        for (const int64_t end : ends[i]) rows += end >= slice.first_ns && end < slice.end_ns ? 1 : 0;
      }
    }
    return rows;
  }
};

void expect_each_row_in_one_slice(const Frames& frames, uint64_t target) {
  const FrameRanges list = frames.frame_ranges();
  const auto slices =
      list.slices(target, [&](const Slice& slice) -> Result<uint64_t> { return frames.rows_of(list, slice); });
  ASSERT_TRUE(slices);
  uint64_t all = 0, rows = 0;
  for (const auto& ends : frames.ends) all += ends.size();
  for (size_t i = 0; i < slices->size(); ++i) {
    const Slice& slice = (*slices)[i];
    const uint64_t count = frames.rows_of(list, slice);
    EXPECT_LE(count, 2 * target + 20'000) << "one range more where all is one moment";
    rows += count;
    if (i != 0) {
      EXPECT_GE(slice.first_ns, (*slices)[i - 1].first_ns);
    }
  }
  EXPECT_EQ(rows, all);
  EXPECT_EQ(list.rows(), all);
}

TEST(FrameRanges, CutsTheRunInSlicesOfLikeSize) {
  Frames frames;
  for (int64_t frame = 0; frame < 400; ++frame) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < 500; ++i) rows.push_back(frame / 4 * 50'000 + i * 120);
    frames.add(std::move(rows));
  }
  expect_each_row_in_one_slice(frames, 20'000);
  const FrameRanges list = frames.frame_ranges();
  const auto slices = list.slices(20'000, [](const Slice&) -> Result<uint64_t> {
    ADD_FAILURE() << "no need to count: the ranges tell";
    return 0;
  });
  ASSERT_TRUE(slices);
  EXPECT_GE(slices->size(), 7u);
  EXPECT_LE(slices->size(), 14u);
}

TEST(FrameRanges, LosesNoRowHoweverTimesAreSpread) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    Frames frames;
    for (int frame = 0; frame < 60; ++frame) {
      std::vector<int64_t> rows;
      const auto spread = static_cast<int64_t>(uint64_t{1} << random() % 40);
      const auto base = static_cast<int64_t>(random() % 1'000'000'000);
      for (uint64_t i = 1 + random() % 300; i != 0; --i) rows.push_back(base + static_cast<int64_t>(random()) % spread);
      for (int64_t& end : rows) end = std::max<int64_t>(end, 0);
      frames.add(std::move(rows));
    }
    expect_each_row_in_one_slice(frames, 1 + random() % 3000);
  }
}

TEST(FrameRanges, CutsRowsOfOneTimeWhereRangesMeet) {
  Frames frames;
  for (int frame = 0; frame < 100; ++frame) frames.add(std::vector<int64_t>(1000, 42));
  expect_each_row_in_one_slice(frames, 5000);
}

TEST(SortByTime, SortsAndKeepsTheOrderOfEqualTimes) {
  struct Item {
    int64_t time_ns;
    uint32_t place;
  };
  std::mt19937_64 random(1);
  for (const uint64_t spread : {uint64_t{1}, uint64_t{5}, uint64_t{3000}, uint64_t{1} << 40, uint64_t{1} << 62}) {
    std::vector<Item> items, spare;
    for (uint32_t i = 0; i < 20'000; ++i) items.push_back({static_cast<int64_t>(random() % spread), i});
    std::vector<Item> expected = items;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Item& a, const Item& b) { return a.time_ns < b.time_ns; });
    util::sort_by_time(items, spare);
    for (size_t i = 0; i < items.size(); ++i) {
      ASSERT_EQ(items[i].time_ns, expected[i].time_ns);
      ASSERT_EQ(items[i].place, expected[i].place);
    }
  }
}

}  // namespace
}  // namespace mlrun::trace
