// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/syscall_table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::trace {
namespace {

mlrun_syscall_sum syscall_sum(uint32_t pid, uint32_t number, uint64_t calls, size_t bucket, uint64_t ended) {
  mlrun_syscall_sum sum{};
  sum.head.pid = pid;
  sum.number = number;
  sum.calls = calls;
  sum.total_ns = ended << bucket;
  sum.buckets[bucket] = ended;
  return sum;
}

TEST(SyscallTable, AddsUpByNameTheLongestFirst) {
  constexpr uint32_t kRead = 0, kClose = 3, kExitGroup = 231;
  SyscallTable table;
  table.add(syscall_sum(1, kClose, 7, 4, 7), {});
  table.add(syscall_sum(1, kRead, 99, 10, 99), {});
  table.add(syscall_sum(2, kRead, 1, 20, 1), {});
  table.add(syscall_sum(2, kExitGroup, 1, 0, 0), {});
  const nlohmann::json names = table.json();
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0]["name"], "read");
  EXPECT_EQ(names[0]["calls"], 100);
  EXPECT_EQ(names[0]["processes"], 2);
  EXPECT_EQ(names[0]["p50_below_ns"], 2048);
  EXPECT_EQ(names[0]["p99_below_ns"], 2048) << "the longest is one in a hundred";
  EXPECT_EQ(names[1]["name"], "close");
  EXPECT_EQ(names[2]["p50_below_ns"], 0) << "it never ends";
}

TEST(SyscallTable, TheLastBucketHasNoEnd) {
  SyscallTable table;
  table.add(syscall_sum(1, 202, 100, 39, 10), {});
  table.add(syscall_sum(2, 202, 100, 38, 90), {});
  EXPECT_EQ(table.json()[0]["p50_below_ns"], int64_t{1} << 39);
  EXPECT_TRUE(table.json()[0]["p99_below_ns"].is_null());
}

TEST(SyscallTable, NamesGoByTheTableOfTheProgram) {
  EXPECT_EQ(syscall_name(64, false), "semget");
  EXPECT_EQ(syscall_name(64, true), "getppid");
  EXPECT_EQ(syscall_name(99999, false), "syscall 99999");
  EXPECT_EQ(syscall_name(UINT32_MAX, true), "syscall 4294967295");
}

TEST(SyscallTable, CountsThatCannotBeDoNoHarm) {
  mlrun_syscall_sum sum = syscall_sum(1, 0, UINT64_MAX, 3, UINT64_MAX);
  sum.buckets[39] = UINT64_MAX;
  SyscallTable table;
  table.add(sum, {});
  EXPECT_EQ(table.json()[0]["calls"], INT64_MAX);
}

}  // namespace
}  // namespace mlrun::trace
