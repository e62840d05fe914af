// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/event_view.h"

#include <vector>

#include <gtest/gtest.h>

#include "runner/decode/func_names.h"
#include "tests/runner/decode/only_record.h"

namespace mlrun::decode {
namespace {

namespace func = events::func;
using testing::RecordBuffer;

TEST(EventView, DecodesACallOnADescriptor) {
  RecordBuffer records;
  records.add(testing::DescriptorCall{func::k_pread, 1000, 250, 7, 4096, 1024, 8192, 33, MLRUN_CALL_STDIO, 99});
  const auto call = only<CallEvent>(records);
  EXPECT_EQ(call.func, func::k_pread);
  EXPECT_FALSE(call.on_path);
  EXPECT_EQ(call.start, 1000u);
  EXPECT_EQ(call.duration, 250u);
  EXPECT_EQ(call.arg, 7);
  EXPECT_EQ(call.w3, 4096u);
  EXPECT_EQ(call.result, 1024);
  EXPECT_EQ(call.offset, 8192u);
  EXPECT_EQ(call.open_file, 33u);
  EXPECT_EQ(call.flags, uint32_t{MLRUN_CALL_STDIO});
  EXPECT_EQ(call.arg2, 99u);
}

TEST(EventView, DecodesTheStackOfACallAndOfAnAllocation) {
  RecordBuffer call;
  call.add_record(MLRUN_CALL + uint32_t{func::k_open}, 3,
                  {0, 1, 0, 0, 0, 0, uint64_t{MLRUN_CALL_STACK} << 40, 77, 5 << 8, 6, 0, 99});
  const auto on_path = only<CallEvent>(call);
  EXPECT_EQ(on_path.stack, 99u);
  EXPECT_EQ(on_path.path, 77u);
  EXPECT_EQ(on_path.dirfd_file, 5u);
  EXPECT_EQ(on_path.cwd, 0u) << "the last unit is the stack's";

  RecordBuffer allocation;
  testing::Allocation block;
  block.site = MLRUN_SITE_IS_STACK | 0x123456789a;
  allocation.add(block);
  const auto alloc = only<AllocEvent>(allocation);
  EXPECT_EQ(alloc.stack, 0x123456789au);
  EXPECT_EQ(alloc.site, 0u);
}

TEST(EventView, DecodesStacksAndModules) {
  RecordBuffer stack;
  stack.add_record(MLRUN_STACK, 3 | MLRUN_STACK_DEPTH << 8, {0, 42, 0x1000 << 8, 0x7fffdeadbeef, 0x3000 << 8, 0});
  const auto event = only<StackEvent>(stack);
  EXPECT_EQ(event.id, 42u);
  ASSERT_EQ(event.frames, 3u);
  EXPECT_EQ(event.frame(0), 0x1000u);
  EXPECT_EQ(event.frame(1), 0x7fffdeadbeefu);
  EXPECT_EQ(event.frame(2), 0x3000u);
  EXPECT_EQ(event.end, uint32_t{MLRUN_STACK_DEPTH});

  RecordBuffer module;
  module.add_record(MLRUN_MODULE, 7,
                    {0, 1, 0x7f0000001000 << 8, 0x7f0000009000, 0x7f0000000000 << 8, 88,
                     0x1000 << 8 | uint64_t{20} << 56, 0x0807060504030201, 0, 0x100f0e0d0c0b0a09, 0, 0x14131211});
  const auto library = only<ModuleEvent>(module);
  EXPECT_EQ(library.number, 7u);
  EXPECT_EQ(library.start, 0x7f0000001000u);
  EXPECT_EQ(library.end, 0x7f0000009000u);
  EXPECT_EQ(library.bias, 0x7f0000000000u);
  EXPECT_EQ(library.file_offset, 0x1000u);
  ASSERT_EQ(library.build_id.size(), 20u);
  EXPECT_EQ(library.build_id[0], 1);
  EXPECT_EQ(library.build_id[19], 20);
}

TEST(EventView, RefusesStacksThatClaimMoreThanTheyHold) {
  for (const uint32_t frames : {0u, 5u, 255u}) {
    RecordBuffer records;
    records.add_record(MLRUN_STACK, frames, {0, 42, 0, 0, 0, 0});
    RecordReader reader = reader_of(records);
    StackEvent event;
    ASSERT_TRUE(reader.next());
    EXPECT_FALSE(decode(reader.record(), event)) << frames;
  }
}

TEST(EventView, KeepsTheSignOfAnErrorAndOfTheLargestFields) {
  RecordBuffer records;
  testing::DescriptorCall failed;
  failed.result = -11;
  failed.open_file = UINT32_MAX;
  failed.flags = 0xffff;
  failed.offset = UINT64_MAX - 1;
  records.add(failed);
  const auto call = only<CallEvent>(records);
  EXPECT_EQ(call.result, -11);
  EXPECT_EQ(call.open_file, UINT32_MAX);
  EXPECT_EQ(call.flags, 0xffffu);
  EXPECT_EQ(call.offset, UINT64_MAX - 1);
}

TEST(EventView, KeepsResultsOf64Bits) {
  for (const int64_t result : {int64_t{0}, int64_t{-4095}, INT64_MAX, INT64_MIN, int64_t{1} << 55,
                               (int64_t{1} << 56) + 1, -(int64_t{1} << 55) - 1, (int64_t{1} << 55) - 1}) {
    const auto shifted = static_cast<uint64_t>(result) << 8;
    EXPECT_EQ(mlrun_whole_result(shifted, mlrun_result_top(result) | 0xffffffffffff00), result);
    const bool fits = result >= -(int64_t{1} << 55) && result < int64_t{1} << 55;
    EXPECT_EQ(mlrun_result_top(result) == 0, fits) << result;
    EXPECT_EQ(mlrun_result_top(result) << 8, 0u) << result;
  }
}

TEST(EventView, DecodesTheAddressThatAMappingWasAskedFor) {
  RecordBuffer any, fixed, at_stack, of_old, of_old_at_stack, other;
  const auto mapping = [](uint16_t number, uint64_t flags, std::vector<uint64_t> more) {
    std::vector<uint64_t> words = {0, 1, 0, 4096, 0x7000 << 8, MLRUN_NO_OFFSET, flags << 40, 3};
    words.insert(words.end(), more.begin(), more.end());
    return std::pair(static_cast<uint16_t>(MLRUN_CALL + number), words);
  };
  const auto add = [&](RecordBuffer& records, auto record) { records.add_record(record.first, 3, record.second); };
  add(any, mapping(func::k_mmap, 0, {0, 0}));
  add(fixed, mapping(func::k_mremap, 0, {0, UINT64_MAX}));
  add(at_stack, mapping(func::k_mmap, MLRUN_CALL_STACK, {0, 0x5000, 0, 99}));
  add(of_old, mapping(func::k_mmap, 0, {}));
  add(of_old_at_stack, mapping(func::k_mmap, MLRUN_CALL_STACK, {0, 99}));
  add(other, mapping(func::k_splice, 0, {7 << 8, 300}));
  EXPECT_EQ(only<CallEvent>(any).wanted_address, 0u);
  EXPECT_EQ(only<CallEvent>(any).second_offset, MLRUN_NO_OFFSET);
  EXPECT_EQ(only<CallEvent>(fixed).wanted_address, UINT64_MAX);
  EXPECT_EQ(only<CallEvent>(at_stack).wanted_address, 0x5000u);
  EXPECT_EQ(only<CallEvent>(at_stack).stack, 99u);
  EXPECT_EQ(only<CallEvent>(of_old).wanted_address, std::nullopt);
  EXPECT_EQ(only<CallEvent>(of_old_at_stack).wanted_address, std::nullopt) << "the last unit is the stack's";
  EXPECT_EQ(only<CallEvent>(other).wanted_address, std::nullopt);
  EXPECT_EQ(only<CallEvent>(other).second_open_file, 7u);
}

TEST(EventView, DecodesTheArgumentsOfMremapAndTheCallerOfMmap) {
  RecordBuffer moved, fixed, mapped;
  const uint64_t flags = MREMAP_MAYMOVE, before = (8192 | flags << MLRUN_REMAP_FLAGS_SHIFT) << 8;
  const uint64_t at = (8192 | (flags | MREMAP_FIXED) << MLRUN_REMAP_FLAGS_SHIFT) << 8;
  const auto words = [](uint64_t w8, uint64_t w9) {
    return std::vector<uint64_t>{0, 1, 0, 4096, 0x7000 << 8, MLRUN_NO_OFFSET, 0, 3, w8, w9};
  };
  moved.add_record(static_cast<uint16_t>(MLRUN_CALL) + func::k_mremap, 3, words(before, 0));
  fixed.add_record(static_cast<uint16_t>(MLRUN_CALL) + func::k_mremap, 3, words(at, 0x9000));
  mapped.add_record(static_cast<uint16_t>(MLRUN_CALL) + func::k_mmap, 3, words(uint64_t{0x7f1234567890} << 8, 0));
  EXPECT_EQ(only<CallEvent>(moved).mapped_by, 8192u);
  EXPECT_EQ(only<CallEvent>(moved).remap_flags, flags);
  EXPECT_EQ(only<CallEvent>(moved).wanted_address, std::nullopt);
  EXPECT_EQ(only<CallEvent>(fixed).wanted_address, 0x9000u);
  EXPECT_EQ(only<CallEvent>(mapped).mapped_by, 0x7f1234567890u);
}

TEST(EventView, DecodesUsableBytesFarBeyondTheSize) {
  RecordBuffer records;
  const uint64_t excess = 300'000'000, address = 0x7f0000000010, align = 4096;
  records.add_record(MLRUN_POSIX_MEMALIGN, 1,
                     {0, 1, address << 5 | (excess & 4095) << 52, 1000, 0, align | excess >> 12 << 48});
  EXPECT_EQ(only<AllocEvent>(records).usable, 1000 + (excess & 0xfffffff));
  EXPECT_EQ(only<AllocEvent>(records).align, align);
  EXPECT_EQ(only<AllocEvent>(records).address, address);
}

TEST(EventView, DecodesTheThreeLengthsOfACallOnAPath) {
  RecordBuffer bare, with_dirfd, with_cwd;
  bare.add(testing::PathCall{.path = 11, .second_path = 12});
  with_dirfd.add(testing::PathCall{.path = 11, .dirfd_file = 5, .second_dirfd_file = 6});
  with_cwd.add(testing::PathCall{.path = 11, .dirfd_file = 5, .cwd = 77});
  const auto first = only<CallEvent>(bare), second = only<CallEvent>(with_dirfd), third = only<CallEvent>(with_cwd);
  EXPECT_TRUE(first.on_path);
  EXPECT_EQ(first.path, 11u);
  EXPECT_EQ(first.second_path, 12u);
  EXPECT_EQ(first.dirfd_file, 0u);
  EXPECT_EQ(first.offset, MLRUN_NO_OFFSET);
  EXPECT_EQ(second.dirfd_file, 5u);
  EXPECT_EQ(second.second_dirfd_file, 6u);
  EXPECT_EQ(second.cwd, 0u);
  EXPECT_EQ(third.dirfd_file, 5u);
  EXPECT_EQ(third.cwd, 77u);
}

TEST(EventView, DecodesAnAllocationWithTheHighestAddressAndSite) {
  RecordBuffer records;
  records.add(
      testing::Allocation{.start = 5, .address = 0x7ffffffffff0, .size = 100, .usable = 104, .site = 0x7fffffffffff});
  const auto alloc = only<AllocEvent>(records);
  EXPECT_EQ(alloc.kind, MLRUN_MALLOC);
  EXPECT_EQ(alloc.address, 0x7ffffffffff0u);
  EXPECT_EQ(alloc.site, 0x7fffffffffffu);
  EXPECT_EQ(alloc.size, 100u);
  EXPECT_EQ(alloc.usable, 104u);
  EXPECT_FALSE(alloc.timed);
}

TEST(EventView, DecodesAlignedAndTimedAllocationsAndRealloc) {
  RecordBuffer aligned, resized;
  aligned.add(testing::Allocation{.kind = MLRUN_MEMALIGN, .duration = 321, .align = 64});
  resized.add(testing::Allocation{.kind = MLRUN_REALLOC, .duration = 42, .old_address = 0x1230, .old_usable = 24});
  const auto first = only<AllocEvent>(aligned), second = only<AllocEvent>(resized);
  EXPECT_TRUE(first.timed);
  EXPECT_EQ(first.duration, 321u);
  EXPECT_EQ(first.align, 64u);
  EXPECT_EQ(second.duration, 42u);
  EXPECT_EQ(second.old_address, 0x1230u);
  EXPECT_EQ(second.old_usable, 24u);
  EXPECT_EQ(second.align, 0u);
}

TEST(EventView, AnAlignmentWithoutADurationIsNotMeasured) {
  RecordBuffer aligned;
  aligned.add(testing::Allocation{.kind = MLRUN_MEMALIGN, .align = 64});
  const auto alloc = only<AllocEvent>(aligned);
  EXPECT_EQ(alloc.align, 64u);
  EXPECT_FALSE(alloc.timed);
}

TEST(EventView, DecodesTheTimeOfAFree) {
  constexpr uint64_t kLong = uint64_t{1} << 31;
  for (const uint64_t duration : {uint64_t{1}, kLong - 1, kLong, kLong + 1023, kLong << 9, UINT64_MAX}) {
    RecordBuffer records;
    records.add_free_time(77, duration);
    const auto time = only<FreeTimeEvent>(records);
    EXPECT_EQ(time.start, 77u);
    const uint64_t reported = std::min(duration, (uint64_t{1} << 41) - 1);
    EXPECT_LE(time.duration, reported);
    EXPECT_GT(time.duration + (duration < kLong ? 1 : 1024), reported);
  }
}

TEST(EventView, DecodesFilesProcessesEndsAndNames) {
  RecordBuffer file, process, end, comm;
  file.add(testing::OpenFileRecord{9, 0x10203, 42, 0100600, MLRUN_ORIGIN_FOUND, 5, 6, 7});
  process.add(testing::ProcessRecord{.clock = 3,
                                     .pid = 12,
                                     .parent_pid = 11,
                                     .process = 4,
                                     .image = 8,
                                     .start_ticks = 77,
                                     .rank = 0,
                                     .local_rank = 3,
                                     .world_size = 4,
                                     .launcher = MLRUN_LAUNCHER_SLURM});
  end.add(testing::EndRecord{10, 1, 2, 3, 4});
  comm.add_comm(10, 55, 66);

  const auto f = only<FileEvent>(file);
  EXPECT_EQ(f.number, 9u);
  EXPECT_EQ(f.device, 0x10203u);
  EXPECT_EQ(f.inode, 42u);
  EXPECT_EQ(f.mode, 0100600u);
  EXPECT_EQ(f.origin, uint32_t{MLRUN_ORIGIN_FOUND});
  EXPECT_EQ(f.path, 5u);
  EXPECT_EQ(f.cwd, 6u);
  EXPECT_EQ(f.dirfd_file, 7u);
  const auto p = only<ProcessEvent>(process);
  EXPECT_EQ(p.pid, 12u);
  EXPECT_EQ(p.parent_pid, 11u);
  EXPECT_EQ(p.process, 4u);
  EXPECT_EQ(p.image, 8u);
  EXPECT_EQ(p.start_ticks, 77u);
  EXPECT_EQ(p.pid_namespace, 77u);
  EXPECT_EQ(p.uid, 1000);
  EXPECT_EQ(p.rank, 0);
  EXPECT_EQ(p.local_rank, 3);
  EXPECT_EQ(p.world_size, 4);
  EXPECT_EQ(p.launcher, uint32_t{MLRUN_LAUNCHER_SLURM});
  const auto e = only<EndEvent>(end);
  EXPECT_EQ(e.rchar, 1);
  EXPECT_EQ(e.syscr, 2);
  EXPECT_EQ(e.wchar, 3);
  EXPECT_EQ(e.syscw, 4);
  RecordBuffer child, ring;
  child.add_child_end(11, 4711, 9);
  ring.add_ring(12, MLRUN_RING_USED, 29);
  const auto ended = only<ChildEndEvent>(child);
  EXPECT_EQ(ended.clock, 11u);
  EXPECT_EQ(ended.pid, 4711u);
  EXPECT_EQ(ended.status, 9);
  EXPECT_EQ(only<RingEvent>(ring).what, uint32_t{MLRUN_RING_USED});
  EXPECT_EQ(only<RingEvent>(ring).operation, 29u);
  const auto c = only<CommEvent>(comm);
  EXPECT_EQ(c.tid, 55u);
  EXPECT_EQ(c.name, 66u);
}

// "forward and back" (16 bytes) in two units, as a range of the process with a payload.
std::vector<uint64_t> range_with_payload(uint32_t text_bytes) {
  std::vector<uint64_t> words(10);
  const uint32_t arg = text_bytes | MLRUN_MARK_NVTX << 16 | 1 << 24;
  words[0] = mlrun_word0(9, 5, MLRUN_MARK_START, arg);
  words[1] = 500;
  words[2] = uint64_t{77} << 8;
  words[3] = 0xd0a1;
  words[4] = uint64_t{6} << 8 | uint64_t{MLRUN_PAYLOAD_I64} << 40;
  words[5] = static_cast<uint64_t>(-3);
  const std::string text = "forward and back";
  auto* units = reinterpret_cast<char*>(&words[6]);
  for (size_t i = 0; i < text.size(); ++i) units[i / 15 * 16 + 1 + i % 15] = text[i];
  return words;
}

TEST(EventView, DecodesARangeWithItsTextAndPayload) {
  const auto words = range_with_payload(16);
  RecordReader reader(words.data(), words.size() * 8, 9);
  ASSERT_TRUE(reader.next());
  ASSERT_EQ(class_of(reader.record().kind), EventClass::kMark);
  MarkEvent mark;
  ASSERT_TRUE(decode(reader.record(), mark));
  EXPECT_EQ(mark.clock, 500u);
  EXPECT_EQ(mark.source, uint32_t{MLRUN_MARK_NVTX});
  EXPECT_EQ(mark.range, 77u);
  EXPECT_EQ(mark.domain, 0xd0a1u);
  EXPECT_EQ(mark.category, 6u);
  EXPECT_EQ(mark.payload_type, uint32_t{MLRUN_PAYLOAD_I64});
  EXPECT_EQ(static_cast<int64_t>(mark.payload), -3);
  std::string text;
  append_text(mark, text);
  EXPECT_EQ(text, "forward and back");
}

TEST(EventView, RefusesARangeWhoseTextGoesBeyondTheRecord) {
  const auto words = range_with_payload(31);
  RecordReader reader(words.data(), words.size() * 8, 9);
  ASSERT_TRUE(reader.next());
  MarkEvent mark;
  EXPECT_FALSE(decode(reader.record(), mark));
}

// A pop, or a point named "name", that brings a structure of so many bytes in a record of 6 units.
std::array<uint64_t, 12> mark_with_structure(uint32_t kind, uint64_t bytes) {
  std::array<uint64_t, 12> words{};
  words[0] = mlrun_word0(9, 6, kind, (kind == MLRUN_MARK_POP ? 0 : 4) | MLRUN_MARK_NVTX << 16 | 1 << 24);
  words[1] = 500;
  words[4] = uint64_t{MLRUN_PAYLOAD_STRUCTURE} << 40 | bytes << 48;
  words[5] = 0x1a;
  const std::string structure = "sixteen bytes are", name = "name";
  auto* units = reinterpret_cast<char*>(&words[6]);
  for (size_t i = 0; i < structure.size(); ++i) units[i / 15 * 16 + 1 + i % 15] = structure[i];
  for (size_t i = 0; i < name.size(); ++i) units[33 + i] = name[i];
  return words;
}

TEST(EventView, DecodesAMarkWithAStructure) {
  for (const uint32_t kind : {MLRUN_MARK_POP, MLRUN_MARK_INSTANT}) {
    const auto words = mark_with_structure(kind, 17);
    RecordReader reader(words.data(), words.size() * 8, 9);
    ASSERT_TRUE(reader.next());
    MarkEvent mark;
    ASSERT_TRUE(decode(reader.record(), mark));
    EXPECT_EQ(mark.payload, 0x1au);
    std::string structure, text;
    append_structure(mark, structure);
    append_text(mark, text);
    EXPECT_EQ(structure, "sixteen bytes are");
    EXPECT_EQ(text, kind == MLRUN_MARK_POP ? "" : "name");
  }
}

TEST(EventView, RefusesAMarkWhoseStructureGoesBeyondTheRecord) {
  for (const uint64_t bytes : {uint64_t{46}, uint64_t{UINT16_MAX}}) {
    for (const uint32_t kind : {MLRUN_MARK_POP, MLRUN_MARK_INSTANT}) {
      const auto words = mark_with_structure(kind, bytes);
      RecordReader reader(words.data(), words.size() * 8, 9);
      ASSERT_TRUE(reader.next());
      MarkEvent mark;
      EXPECT_FALSE(decode(reader.record(), mark)) << bytes;
    }
  }
}

TEST(EventView, PutsTheFragmentsOfALongStringTogether) {
  std::string text;
  for (int i = 0; i < 9000; ++i) text += static_cast<char>('a' + i % 26);
  RecordBuffer records;
  const uint64_t id = records.add_string(text);
  RecordReader reader = reader_of(records);
  std::string joined;
  uint32_t fragments = 0;
  for (StringEvent string; reader.next(); ++fragments) {
    ASSERT_TRUE(decode(reader.record(), string));
    EXPECT_EQ(string.id, id);
    EXPECT_EQ(string.fragment, fragments);
    append_text(string, joined);
    EXPECT_EQ(string.last, joined.size() == text.size());
  }
  EXPECT_EQ(fragments, 3u);
  EXPECT_EQ(joined, text);
}

TEST(EventView, ContinuesAfterAHole) {
  RecordBuffer records;
  records.add(testing::Allocation{.start = 1});
  records.add_hole(3);
  records.add(testing::Allocation{.start = 2});
  RecordReader reader = reader_of(records);
  ASSERT_TRUE(reader.next());
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.record().clock(), 2u);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.tally().hole_bytes, 48u);
  EXPECT_EQ(reader.tally().damaged_bytes, 0u);
}

TEST(EventView, DoesNotTakeARecordThatAnotherOneBeginsInside) {
  RecordBuffer records;
  records.add(testing::DescriptorCall{.start = 1});
  RecordBuffer inner;
  inner.add(testing::Allocation{.start = 2});
  std::copy(inner.words().begin(), inner.words().end(), records.words().begin() + 4);
  RecordReader reader = reader_of(records);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(class_of(reader.record().kind), EventClass::kAlloc);
  EXPECT_EQ(reader.record().clock(), 2u);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.tally().damaged_bytes, 16u);
  EXPECT_EQ(reader.tally().records, 1u);
}

TEST(EventView, DoesNotReadBeyondThePayload) {
  RecordBuffer records;
  records.add(testing::DescriptorCall{});
  RecordReader reader(records.words().data(), records.bytes() - MLRUN_UNIT_BYTES, records.lap());
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.tally().damaged_bytes + reader.tally().hole_bytes, records.bytes() - MLRUN_UNIT_BYTES);
}

TEST(EventView, TakesNoRecordOfAnotherLapAndNoneAtLapZero) {
  RecordBuffer records(7);
  records.add(testing::Allocation{});
  EXPECT_FALSE(RecordReader(records.words().data(), records.bytes(), 8).next());
  EXPECT_FALSE(RecordReader(records.words().data(), records.bytes(), 0).next());
}

TEST(EventView, EndsAtAPad) {
  RecordBuffer records;
  records.add_pad();
  records.add(testing::Allocation{});
  RecordReader reader = reader_of(records);
  EXPECT_FALSE(reader.next());
}

TEST(EventView, RefusesRecordsThatAreTooShortForTheirKind) {
  for (const uint16_t kind : {uint16_t{MLRUN_CALL + 1}, uint16_t{MLRUN_MALLOC}, uint16_t{MLRUN_REALLOC}}) {
    RecordBuffer records;
    records.add_record(kind, 0, {0, 0});
    RecordReader reader = reader_of(records);
    ASSERT_TRUE(reader.next());
    uint64_t end = 0;
    EXPECT_FALSE(end_clock(reader.record(), end)) << kind;
  }
  RecordBuffer records;
  records.add_record(MLRUN_STRING, 200 | 1u << 24, {0, 1, 0, 0});
  RecordReader reader = reader_of(records);
  ASSERT_TRUE(reader.next());
  StringEvent string;
  EXPECT_FALSE(decode(reader.record(), string));
  ProcessEvent process;
  FileEvent file;
  EndEvent end;
  EXPECT_FALSE(decode(reader.record(), process));
  EXPECT_FALSE(decode(reader.record(), file));
  EXPECT_FALSE(decode(reader.record(), end));
}

TEST(EventView, CountsADurationThatGoesBeyondTheClockAsTheEndOfTime) {
  RecordBuffer records;
  records.add(testing::DescriptorCall{.start = UINT64_MAX - 5, .duration = 1000});
  RecordReader reader = reader_of(records);
  ASSERT_TRUE(reader.next());
  uint64_t end = 0;
  ASSERT_TRUE(end_clock(reader.record(), end));
  EXPECT_EQ(end, UINT64_MAX);
}

TEST(EventView, LeavesKindsThatItDoesNotKnowToTheReader) {
  RecordBuffer records;
  records.add_record(0x3f, 0, {0, 0, 0, 0});
  RecordReader reader = reader_of(records);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(class_of(reader.record().kind), EventClass::kUnknown);
}

}  // namespace
}  // namespace mlrun::decode
