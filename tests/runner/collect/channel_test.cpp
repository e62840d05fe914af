// SPDX-License-Identifier: Apache-2.0
// Tests channels: they are announced before their data, counted, and freed when their thread has ended.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

#include "runner/collect/owner_mark.h"
#include "runner/collect/shared_word.h"
#include "runner/events/alloc_class.h"
#include "runner/util/proc_files.h"
#include "tests/runner/collect/session.h"

namespace mlrun::collect::testing {
namespace {

using namespace std::chrono_literals;

mlrun_channel ourselves() {
  mlrun_channel who{};
  who.pid = who.tid = static_cast<uint32_t>(::getpid());
  who.pid_namespace = util::pid_namespace_of(0);
  return who;
}

TEST(Channel, IsWrittenBeforeItsDataWithTheIdsThatMlrunSees) {
  Session session;
  RecordingThread thread(session.arena(), {ourselves().pid, ourselves().tid, 5});
  thread.descriptor().pid_namespace = ourselves().pid_namespace;
  thread.record(0);
  session.collector().pass();
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  const auto channels = spool.of_type(MLRUN_FRAME_CHANNEL);
  ASSERT_EQ(channels.size(), 1u);
  EXPECT_EQ(channels[0].header.seq, 0u);
  EXPECT_LT(channels[0].offset, spool.of_type(MLRUN_FRAME_DATA)[0].offset);
  const auto body = channels[0].as<mlrun_frame_channel>();
  EXPECT_EQ(body.host_pid, ourselves().pid);
  EXPECT_EQ(body.start_ticks, util::read_proc_stat(ourselves().pid)->start_ticks);
  EXPECT_EQ(body.process, 5u);
}

TEST(Channel, ItsProcessIsDescribedAsJson) {
  Session session;
  RecordingThread thread(session.arena(), {ourselves().pid, ourselves().tid, 5});
  thread.descriptor().pid_namespace = ourselves().pid_namespace;
  thread.record(0);
  session.collector().pass();
  std::string all;
  for (const Frame& frame : session.finish().of_type(MLRUN_FRAME_PROCESS)) all += frame.payload + "\n";
  EXPECT_NE(all.find("\"comm\":\"" + util::read_comm(ourselves().pid, ourselves().tid) + "\""), std::string::npos)
      << all;
  EXPECT_NE(all.find("\"modules\":[["), std::string::npos) << all;
  EXPECT_NE(all.find("/libc.so.6\""), std::string::npos) << all;
  EXPECT_NE(all.find("\"syscr\":"), std::string::npos) << all;
}

TEST(Channel, ADeadThreadsDescriptorIsZeroedAndItsNumbersAreNotReused) {
  Session session;
  RecordingThread first(session.arena());
  first.record(0);
  first.descriptor().drops[MLRUN_DROP_FULL][MLRUN_DROPPED_FREE] = 3;
  mlrun_channel* slot = &first.descriptor();
  session.collector().pass();
  first.die();
  session.collector().pass();
  const mlrun_channel zero{};
  EXPECT_EQ(memcmp(slot, &zero, sizeof zero), 0);
  RecordingThread second(session.arena(), {2, 2, 2});
  EXPECT_EQ(&second.descriptor(), slot);
  second.record(1);
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.of_type(MLRUN_FRAME_CHANNEL).size(), 2u);
  EXPECT_EQ(session.collector().channels().drops, 3u);
}

TEST(Channel, OneWhoseThreadDiedWhileClaimingItIsFreed) {
  Session session;
  RecordingThread thread(session.arena());
  thread.record(0);
  session.collector().pass();
  RecordingThread claimed(session.arena(), {2, 2, 2});
  store(claimed.descriptor().state, uint32_t{MLRUN_CHANNEL_CLAIMED});
  claimed.die();
  session.collector().pass();
  EXPECT_EQ(load(claimed.descriptor().state), uint32_t{MLRUN_CHANNEL_FREE});
}

TEST(Channel, ASegmentInPreparationIsNotRead) {
  Session session;
  store(session.arena().owner(0), 1u << 24 | MLRUN_OWNER_PREPARING);
  store(session.arena().control().segment_high, 1u);
  memset(session.arena().segment(0), 0x01, MLRUN_SEGMENT_BYTES);
  session.collector().pass();
  EXPECT_EQ(session.finish().error, "");
  EXPECT_EQ(session.collector().channels().channels, 0u);
  EXPECT_EQ(session.collector().drained().corrupt_segments, 0u);
}

TEST(Channel, CountersAreWrittenWhenTheyChangeAndAtTheEnd) {
  Session session;
  RecordingThread thread(session.arena());
  thread.descriptor().fine[3] = {10, 4};
  session.collector().pass();
  session.collector().pass();
  std::this_thread::sleep_for(250ms);
  session.collector().pass();  // nothing changed
  thread.descriptor().coarse[mlrun_coarse_class(5000)] = {1, 0, 5008, 0};
  std::this_thread::sleep_for(450ms);
  session.collector().pass();
  thread.die();
  session.collector().pass();
  const auto frames = session.finish().of_type(MLRUN_FRAME_COUNTERS);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].as<mlrun_frame_counters>().entries, 1u);
  EXPECT_EQ(frames[1].as<mlrun_frame_counters>().entries, 1u);
  EXPECT_EQ(frames[2].as<mlrun_frame_counters>().final, 1u);
  EXPECT_EQ(frames[2].as<mlrun_frame_counters>().entries, 0u);
  mlrun_counter_entry entry{};
  frames[1].payload.copy(reinterpret_cast<char*>(&entry), sizeof entry, sizeof(mlrun_frame_counters));
  EXPECT_EQ(entry.class_bytes, mlrun_coarse_class_bytes(mlrun_coarse_class(5000)));
  EXPECT_EQ(entry.alloc_bytes, 5008u);
  EXPECT_EQ(session.collector().channels().counted, 15u);
}

TEST(Channel, DropsAreWrittenByKindWhenTheyChange) {
  Session session;
  RecordingThread thread(session.arena());
  session.collector().pass();
  thread.descriptor().drops[MLRUN_DROP_FULL][MLRUN_DROPPED_FILE_CALL] = 5;
  thread.descriptor().drops[MLRUN_DROP_FULL][MLRUN_DROPPED_MARK] = 1;
  std::this_thread::sleep_for(250ms);
  session.collector().pass();
  thread.die();
  session.collector().pass();
  const SpoolFrames spool = session.finish();
  const auto frames = spool.of_type(MLRUN_FRAME_DROPS);
  ASSERT_EQ(frames.size(), 1u);
  const util::DropCounts counts = util::read_drops(frames[0].payload.data(), frames[0].payload.size());
  EXPECT_EQ(counts[MLRUN_DROP_FULL][MLRUN_DROPPED_FILE_CALL], 5u);
  EXPECT_EQ(counts[MLRUN_DROP_FULL][MLRUN_DROPPED_MARK], 1u);
  EXPECT_EQ(util::all_drops(counts), 6u);
  EXPECT_EQ(spool.of_type(MLRUN_FRAME_COUNTERS).back().as<mlrun_frame_counters>().drops[MLRUN_DROP_FULL], 6u);
}

TEST(Channel, AFrameCountsDropsSinceTheOneBefore) {
  Session session;
  RecordingThread thread(session.arena());
  session.collector().pass();
  thread.descriptor().drops[MLRUN_DROP_FULL][MLRUN_DROPPED_FILE_CALL] = 5;
  thread.record(0);
  session.collector().pass();
  thread.descriptor().drops[MLRUN_DROP_GAVE_UP][MLRUN_DROPPED_OTHER] = 2;
  thread.record(1);
  session.collector().pass();
  const SpoolFrames spool = session.finish();
  uint64_t lost = 0;
  for (const Frame& frame : spool.frames) lost += frame.header.lost;
  EXPECT_EQ(lost, 7u);
}

TEST(OwnerMark, TheKernelMarksTheWordWhenTheOwnerIsKilled) {
  auto* word = static_cast<uint32_t*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = ::fork();
  if (child == 0) {
    const OwnerMark mark(word);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_NE(load(*word) & FUTEX_OWNER_DIED, 0u);
  {
    const OwnerMark mark(word);
    EXPECT_EQ(load(*word) & FUTEX_OWNER_DIED, 0u);
  }
  EXPECT_EQ(load(*word), 0u);
  ::munmap(word, 4096);
}

}  // namespace
}  // namespace mlrun::collect::testing
