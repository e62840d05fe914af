// SPDX-License-Identifier: Apache-2.0
// Tests the keys by which kernel-side records are joined: their order, threads by number and time, calls by thread and
// time.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/decode/kernel_view.h"
#include "runner/events/call_layout.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/kernel/block_status.h"
#include "runner/trace/kernel/completions.h"
#include "runner/trace/kernel/kernel_losses.h"
#include "runner/trace/kernel/part_calls.h"
#include "runner/trace/kernel/remote_table.h"
#include "runner/trace/kernel/syscall_table.h"
#include "tests/runner/trace/joined_rows.h"

namespace mlrun::trace {
namespace {

template <typename Record>
void append(std::vector<uint64_t>& bytes, uint16_t kind, Record record) {
  record.head.kind = kind;
  record.head.bytes = sizeof record;
  const size_t at = bytes.size();
  bytes.resize(at + sizeof record / sizeof(uint64_t));
  std::memcpy(bytes.data() + at, &record, sizeof record);
}

TEST(KernelReader, PassesOverKindsThatItDoesNotKnow) {
  std::vector<uint64_t> bytes;
  append(bytes, MLRUN_KERNEL_REQUEST, mlrun_block_request{});
  append(bytes, 77, mlrun_wait{});
  append(bytes, MLRUN_KERNEL_PART, mlrun_block_part{});
  events::KernelReader reader(bytes.data(), bytes.size() * sizeof(uint64_t));
  std::vector<int> kinds;
  while (reader.next()) kinds.push_back(reader.head().kind);
  EXPECT_EQ(kinds, (std::vector<int>{MLRUN_KERNEL_REQUEST, 77, MLRUN_KERNEL_PART}));
  EXPECT_EQ(reader.damaged_bytes(), 0u);
}

TEST(KernelReader, StopsAtALengthThatCannotBe) {
  for (const uint16_t length : {0, 8, 25, 4000}) {
    std::vector<uint64_t> bytes;
    append(bytes, MLRUN_KERNEL_WAIT, mlrun_wait{});
    append(bytes, MLRUN_KERNEL_WAIT, mlrun_wait{});
    std::memcpy(reinterpret_cast<char*>(bytes.data()) + sizeof(mlrun_wait) + 2, &length, sizeof length);
    events::KernelReader reader(bytes.data(), bytes.size() * sizeof(uint64_t));
    EXPECT_TRUE(reader.next());
    EXPECT_FALSE(reader.next()) << length;
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.damaged_bytes(), sizeof(mlrun_wait));
  }
}

TEST(KernelReader, DoesNotReadARecordAsALongerOne) {
  std::vector<uint64_t> bytes;
  append(bytes, MLRUN_KERNEL_PART, mlrun_wait{});
  events::KernelReader reader(bytes.data(), bytes.size() * sizeof(uint64_t));
  ASSERT_TRUE(reader.next());
  mlrun_block_part part{};
  EXPECT_FALSE(reader.read(part));
}

mlrun_block_part queued(uint32_t tid, uint64_t ns, uint32_t flags = 0) {
  mlrun_block_part part{};
  part.head.tid = tid;
  part.queued_at_ns = ns;
  part.flags = flags;
  return part;
}

TEST(PartCalls, APartBelongsToTheCallOfItsThreadThatQueuedIt) {
  PartCalls calls;
  calls.add(queued(7, 150));
  calls.add(queued(7, 100));
  calls.add(queued(8, 150));
  calls.add(queued(7, 201));
  calls.add(queued(7, 150, MLRUN_BLOCK_WRITEBACK));
  calls.sort();
  calls.call(call(7, 100, 100), 1);
  calls.call(call(8, 0, 149), 2);
  EXPECT_EQ(calls.call_of(0), 1);
  EXPECT_EQ(calls.call_of(1), 1);
  EXPECT_EQ(calls.call_of(2), 0) << "another thread";
  EXPECT_EQ(calls.call_of(3), 0) << "behind the call";
  EXPECT_EQ(calls.call_of(4), 0) << "written back later";
  EXPECT_EQ(calls.call_of(99), 0);
}

TEST(PartCalls, AFileOperationBelongsToTheCallThatItsMiddleLiesIn) {
  const auto file_op = [](uint32_t tid, uint64_t begin_ns, uint64_t end_ns) {
    mlrun_file_op operation{};
    operation.head.tid = tid;
    operation.head.time_ns = end_ns;
    operation.begin_ns = begin_ns;
    return operation;
  };
  PartCalls calls;
  calls.add(file_op(7, 98, 198));  // the clocks are not quite the same
  calls.add(file_op(7, 300, 340));
  calls.add(file_op(8, 100, 200));
  calls.add(file_op(7, 500, 10));  // damaged: it ends before it begins
  calls.sort();
  calls.call(call(7, 100, 100), 1);
  calls.call(call(7, 320, 100), 2);
  EXPECT_EQ(calls.call_of(0), 1);
  EXPECT_EQ(calls.call_of(1), 2);
  EXPECT_EQ(calls.call_of(2), 0) << "another thread";
  EXPECT_EQ(calls.call_of(3), 0);
}

TEST(PartCalls, ARemoteRequestBelongsToTheCallThatBeganIt) {
  const auto remote = [](uint32_t tid, uint64_t begin_ns, uint64_t end_ns) {
    mlrun_remote request{};
    request.head.tid = tid;
    request.head.time_ns = end_ns;
    request.begin_ns = begin_ns;
    return request;
  };
  PartCalls calls;
  calls.add(remote(7, 99'900, 900'000));  // the clocks are not quite the same, and it outlives the call
  calls.add(remote(7, 149'900, 150'000));
  calls.add(remote(8, 120'000, 130'000));
  calls.add(remote(7, 500'000, 10));  // damaged: it ends before it begins
  calls.sort();
  calls.call(call(7, 100'000, 50'000), 1);
  EXPECT_EQ(calls.call_of(0), 1);
  EXPECT_EQ(calls.call_of(1), 1) << "shorter than what is added";
  EXPECT_EQ(calls.call_of(2), 0) << "another thread";
  EXPECT_EQ(calls.call_of(3), 0);
}

TEST(Completions, BelongToTheOperationOfTheirNumberWheneverTheyCame) {
  const auto done = [](uint64_t operation, uint64_t time_ns, int64_t result) {
    mlrun_file_done record{};
    record.head.time_ns = time_ns;
    record.operation = operation;
    record.result = result;
    return record;
  };
  Completions completions;
  completions.add(done(9, 300, 4096));
  completions.add(done(7, 100, -EIO));
  completions.add(done(~uint64_t{0}, 200, 0));
  completions.add(done(9, 400, 1));  // damaged: a number is given once
  completions.sort();
  ASSERT_TRUE(completions.of(9).has_value());
  EXPECT_EQ(completions.of(9)->time_ns, 300);
  EXPECT_EQ(completions.of(9)->result, 4096);
  ASSERT_TRUE(completions.of(7).has_value());
  EXPECT_EQ(completions.of(7)->result, -EIO);
  EXPECT_TRUE(completions.of(~uint64_t{0}).has_value());
  EXPECT_EQ(completions.missing(), 0u);
  EXPECT_FALSE(completions.of(8).has_value());
  EXPECT_EQ(completions.missing(), 1u);
  EXPECT_FALSE(Completions{}.of(9).has_value());
}

TEST(Completions, BeyondTheMostThatItTakesAreCounted) {
  Completions completions(2);
  for (uint64_t operation = 1; operation <= 5; operation++) {
    mlrun_file_done record{};
    record.operation = operation;
    completions.add(record);
  }
  completions.sort();
  EXPECT_TRUE(completions.of(2).has_value());
  EXPECT_FALSE(completions.of(3).has_value());
  EXPECT_EQ(completions.left_out(), 3u);
}

TEST(KernelLosses, BeyondTheMostRowsThoseOfOneKindAndReasonShareOne) {
  const auto loss = [](uint32_t kind, uint64_t first_ns, uint64_t last_ns, uint64_t count) {
    mlrun_kernel_loss record{};
    record.head.cpu = static_cast<uint32_t>(first_ns / 10);
    record.head.time_ns = last_ns;
    record.first_ns = first_ns;
    record.count = count;
    record.of_kind = kind;
    record.reason = MLRUN_KERNEL_LOSS_RING;
    return record;
  };
  KernelLosses losses(1);
  losses.add(loss(MLRUN_KERNEL_WAIT, 10, 20, 1));
  losses.add(loss(MLRUN_KERNEL_WAIT, 20, 30, 2));
  losses.add(loss(MLRUN_KERNEL_PART, 30, 40, 4));
  losses.add(loss(MLRUN_KERNEL_WAIT, 40, 50, UINT64_MAX));
  model::TraceInfo info;
  losses.add_rows(info);
  ASSERT_EQ(info.losses.size(), 3u);
  EXPECT_EQ(info.losses[0].count, 1);
  EXPECT_EQ(info.losses[1].unit, "block parts");
  EXPECT_EQ(info.losses[1].count, 4);
  EXPECT_EQ(info.losses[2].unit, "waits");
  EXPECT_EQ(info.losses[2].count, INT64_MAX);
  EXPECT_EQ(info.losses[2].first_ns, 20);
  EXPECT_EQ(info.losses[2].last_ns, 50);
  EXPECT_EQ(info.losses[0].cpu, 1);
  EXPECT_EQ(info.losses[1].cpu, 3);
  EXPECT_EQ(info.losses[2].cpu, -1) << "of several processors";
}

TEST(KernelLosses, WhatWasNeverSeenToEndIsOfNoProcessor) {
  mlrun_kernel_loss record{};
  record.reason = MLRUN_KERNEL_LOSS_OPEN;
  KernelLosses losses;
  losses.add(record);
  model::TraceInfo info;
  losses.add_rows(info);
  ASSERT_EQ(info.losses.size(), 1u);
  EXPECT_EQ(info.losses[0].cpu, -1);
}

TEST(KernelLosses, WhatWasNotRememberedSaysWhatIsMissingForIt) {
  KernelLosses losses;
  for (const uint32_t reason : {MLRUN_KERNEL_LOSS_WRITER, MLRUN_KERNEL_LOSS_PLACE}) {
    mlrun_kernel_loss record{};
    record.of_kind = MLRUN_KERNEL_PART;
    record.reason = reason;
    record.count = 3;
    losses.add(record);
  }
  model::TraceInfo info;
  losses.add_rows(info);
  ASSERT_EQ(info.losses.size(), 2u);
  EXPECT_EQ(info.losses[0].unit, "block parts");
  EXPECT_NE(info.losses[0].reason.find("at most"), std::string::npos);
  EXPECT_EQ(info.losses[1].unit, "bios of stacked devices");
  EXPECT_EQ(info.losses[1].count, 3);
}

TEST(KernelLosses, ProgramsThatTheKernelDidNotRunAreReported) {
  model::TraceInfo info;
  const auto add = [&](const nlohmann::json& session) {
    add_skipped_programs(info, model::run_of(session).kernel_side);
  };
  add({{"kernel_side", {{"skipped", nlohmann::json::array()}}}});
  add({{"kernel_side", {{"skipped", "none"}}}});
  add({{"kernel_side", nullptr}});
  EXPECT_TRUE(info.losses.empty());
  add({{"kernel_side",
        {{"skipped",
          {{{"program", "on_request_complete"}, {"times", 12u}},
           {{"program", 7}, {"times", 12u}},
           {{"program", "on_switch"}, {"times", -1}},
           nullptr}}}}});
  ASSERT_EQ(info.losses.size(), 1u);
  EXPECT_EQ(info.losses[0].reason,
            "the kernel skipped the BPF program on_request_complete, which was already running on that processor");
  EXPECT_EQ(info.losses[0].count, 12);
}

TEST(RemoteTable, NamesWhatIsAskedForAsTheProtocolDoes) {
  const auto named = [](uint32_t protocol, uint32_t code, const char* name) {
    mlrun_remote record{};
    record.protocol = protocol;
    record.code = code;
    std::memcpy(record.name, name, std::min(std::strlen(name), sizeof record.name));
    return remote_op_name(record);
  };
  EXPECT_EQ(named(MLRUN_REMOTE_9P, 116, ""), "read");
  EXPECT_EQ(named(MLRUN_REMOTE_9P, 9999, ""), "type 9999");
  EXPECT_EQ(named(MLRUN_REMOTE_FUSE, 15, ""), "read");
  EXPECT_EQ(named(MLRUN_REMOTE_RPC, 25, "READ_PLUS"), "read_plus");
  EXPECT_EQ(named(MLRUN_REMOTE_RPC, 25, ""), "type 25");
  EXPECT_EQ(named(MLRUN_REMOTE_RPC, 25, "ABCDEFGHIJKLMNOPQ"), "abcdefghijklmnop") << "the whole field, without an end";
}

TEST(ThreadFinder, ANumberThatIsUsedAgainMeansAnotherThread) {
  model::TraceInfo info;
  info.threads.push_back({2, 20, 21, 500, 2000, 2500, "later"});
  info.threads.push_back({1, 10, 11, 500, 1000, 1500, "first"});
  model::ProcessRow process;
  process.proc_id = 30;
  process.pid = 600;
  info.processes.push_back(process);
  const ThreadFinder finder(info);
  EXPECT_EQ(finder.find(1999, 500, 500).thread_id, 1);
  EXPECT_EQ(finder.find(2000, 500, 500).thread_id, 2);
  EXPECT_EQ(finder.find(5, 500, 500).proc_id, 10) << "before its first record: I/O of its start";
  EXPECT_EQ(finder.find(5, 600, 601).proc_id, 30);
  EXPECT_EQ(finder.find(5, 600, 601).thread_id, 0);
  EXPECT_EQ(finder.find(5, 1, 1).proc_id, 0);
}

TEST(ThreadFinder, AProcessIdThatIsAThreadOfAnotherProcessLaterMeansNotThat) {
  model::TraceInfo info;
  const auto add = [&](int32_t proc_id, int32_t pid, int32_t tid, int64_t first_ns) {
    model::ProcessRow process;
    process.proc_id = proc_id;
    process.pid = pid;
    process.first_ns = first_ns;
    if (pid == tid) info.processes.push_back(process);
    const auto thread_id = static_cast<int32_t>(info.threads.size()) + 1;
    info.threads.push_back({thread_id, proc_id, proc_id, tid, first_ns, first_ns + 100, "thread"});
  };
  add(1, 500, 500, 1000);
  add(2, 600, 600, 2000);
  add(2, 600, 500, 3000);  // a thread of the second process has the number of the first
  add(3, 500, 500, 4000);
  const ThreadFinder finder(info);
  EXPECT_EQ(finder.find(3500, 500, 500).proc_id, 1);
  EXPECT_EQ(finder.find(3500, 600, 500).thread_id, 3);
  EXPECT_EQ(finder.find(9000, 600, 500).thread_id, 3);
  EXPECT_EQ(finder.find(9000, 500, 500).proc_id, 3);
  EXPECT_EQ(finder.find(9000, 600, 700).proc_id, 2) << "no such thread";
  EXPECT_EQ(finder.find(9000, 600, 700).thread_id, 0);
}

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

TEST(BlockErrno, ReadsBothEncodings) {
  EXPECT_EQ(block_errno(0), 0);
  EXPECT_EQ(block_errno(-ENOSPC), ENOSPC);
  EXPECT_EQ(block_errno(10), EIO);
  EXPECT_EQ(block_errno(200), EIO);
}

TEST(DeviceNumber, IsAsStatHasIt) {
  EXPECT_EQ(stat_device(254u << 20), 254 << 8);
  EXPECT_EQ(stat_device(259u << 20 | 300), 300 % 256 | 259 << 8 | 256 << 12);
}

}  // namespace
}  // namespace mlrun::trace
