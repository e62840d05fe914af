// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/sorted_rows.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::exchange {
namespace {

struct NumberedRow {
  int64_t number = 0;
  std::string_view name = {}, args = {};
};
using Sorted = SortedRows<NumberedRow, 2, kBytesBeforeTexts<NumberedRow, 2>>;
using Said = std::tuple<int64_t, int64_t, std::string, std::string>;  // time, number, texts

std::vector<Said> made_rows() {
  std::mt19937_64 random(7);
  std::vector<Said> rows;
  for (int64_t number = 0; number < 20'000; ++number) {
    const auto time = static_cast<int64_t>(random() % 5'000) - 2'500;
    rows.emplace_back(time, number, std::string(random() % 20, 'n'), std::string(random() % 200, 'a'));
  }
  return rows;
}

std::vector<Said> read_all(Sorted& rows) {
  std::vector<Said> read;
  const auto see = [&](int64_t time, const NumberedRow& row, const Sorted::Texts& texts) -> Status {
    read.emplace_back(time, row.number, std::string(texts[0]), std::string(texts[1]));
    return {};
  };
  EXPECT_TRUE(rows.for_each(see).has_value());
  return read;
}

class SortedRowsTest : public testing::TestWithParam<size_t> {};  // bytes in memory

TEST_P(SortedRowsTest, RowsOfOneTimeKeepTheirOrder) {
  Sorted rows(std::filesystem::temp_directory_path().string(), GetParam());
  std::vector<Said> wanted = made_rows();
  for (const auto& [time, number, name, args] : wanted)
    ASSERT_TRUE(rows.add(time, {.number = number}, {name, args}).has_value());
  EXPECT_EQ(rows.size(), static_cast<int64_t>(wanted.size()));
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const Said& a, const Said& b) { return std::get<0>(a) < std::get<0>(b); });
  EXPECT_EQ(read_all(rows), wanted);
}

// In groups, as a table's row groups are.
TEST_P(SortedRowsTest, RowsThatAreHandedOnKeepTheirTexts) {
  constexpr size_t kGroup = 1000;
  Sorted rows(std::filesystem::temp_directory_path().string(), GetParam()), group("", Sorted::kUnlimited);
  std::vector<Said> wanted = made_rows(), read;
  for (const auto& [time, number, name, args] : wanted)
    ASSERT_TRUE(rows.add(time, {.number = number}, {name, args}).has_value());
  size_t text_bytes = 0, in_group = 0;
  const auto end_group = [&] {
    const std::vector<Said> sorted = read_all(group);
    read.insert(read.end(), sorted.begin(), sorted.end());
    rows.free_visited();
    in_group = 0;
  };
  const auto hand_on = [&](int64_t, char* stored) -> Status {
    NumberedRow row = Sorted::row_of(stored);
    row.number = -row.number;
    text_bytes += Sorted::text_bytes(stored);
    if (Status added = group.add_stored(row.number, row, stored); !added) return added;
    if (++in_group == kGroup) end_group();
    return {};
  };
  ASSERT_TRUE(rows.for_each_stored(hand_on).has_value());
  end_group();
  size_t wanted_bytes = 0;
  const auto by_time = [](const Said& a, const Said& b) { return std::get<0>(a) < std::get<0>(b); };
  std::stable_sort(wanted.begin(), wanted.end(), by_time);
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto& [time, number, name, args] = wanted[i];
    time = number = -number;
    wanted_bytes += name.size() + args.size();
    if (i % kGroup == kGroup - 1)
      std::sort(wanted.begin() + static_cast<ptrdiff_t>(i + 1 - kGroup),
                wanted.begin() + static_cast<ptrdiff_t>(i + 1));
  }
  EXPECT_EQ(read, wanted);
  EXPECT_EQ(text_bytes, wanted_bytes);
}

TEST(RowBlocks, RowsOfAnySizeStayWhereTheyAre) {
  RowBlocks blocks;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<char*, size_t>> rows;
    std::mt19937_64 random(11);
    size_t bytes = 0;
    for (size_t i = 0; i < 4000; ++i) {
      const size_t size = i % 1000 == 999 ? size_t{6} << 20 : 1 + random() % 5000;
      rows.emplace_back(blocks.add(size), size);
      std::fill_n(rows.back().first, size, static_cast<char>(i));
      bytes += size;
    }
    EXPECT_EQ(blocks.bytes(), bytes);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto [row, size] = rows[i];
      EXPECT_TRUE(std::all_of(row, row + size, [&](char byte) { return byte == static_cast<char>(i); })) << i;
    }
    blocks.clear();
  }
}

INSTANTIATE_TEST_SUITE_P(InMemoryAndSpilled, SortedRowsTest, testing::Values(size_t{64} << 20, size_t{300} << 10));

}  // namespace
}  // namespace mlrun::exchange
