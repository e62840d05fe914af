// SPDX-License-Identifier: Apache-2.0
// Compares stacks of this process, copied and unwound, with glibc's backtrace() of the same call.
#include "runner/symbols/stack_walker.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runner/events/record.h"

namespace mlrun::symbols {
namespace {

constexpr size_t kCopied = 16 << 10, kDepth = 64;

std::vector<CodeMapping> own_mappings() {
  std::vector<CodeMapping> mappings;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    CodeMapping mapping;
    std::array<char, 8> rights{};
    const size_t path = line.find('/');
    if (path == std::string::npos) continue;
    std::sscanf(line.c_str(), "%" PRIx64 "-%" PRIx64 " %7s %" PRIx64 " %*s %" PRIu64, &mapping.start, &mapping.end,
                rights.data(), &mapping.file_offset, &mapping.inode);
    mapping.path = line.substr(path);
    if (rights[2] == 'x') mappings.push_back(mapping);
  }
  return mappings;
}

uint64_t end_of_stack() {
  std::ifstream maps("/proc/self/maps");
  uint64_t start = 0, end = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("[stack]")) std::sscanf(line.c_str(), "%" PRIx64 "-%" PRIx64, &start, &end);
  }
  return end;
}

struct Taken {
  StackCopy copy;
  std::vector<uint64_t> wanted;  // return addresses by glibc, from the caller of take() on
};

// What a probe sees when a call returns to the function that has called this one.
__attribute__((noinline)) void take(Taken& taken, size_t bytes) {
  ucontext_t here{};
  ASSERT_EQ(getcontext(&here), 0);
  std::array<void*, kDepth> addresses{};
  const int count = backtrace(addresses.data(), addresses.size());
  // From this function's caller on: a sanitizer's backtrace has a frame of its own before.
  const auto caller = std::find(addresses.begin(), addresses.begin() + count, __builtin_return_address(0));
  for (auto at = caller; at != addresses.begin() + count; ++at) taken.wanted.push_back(reinterpret_cast<uint64_t>(*at));
  // Begins one frame further in, in this function: a place in the middle of a function is as good as one behind a call.
  const auto of = [&](int number) { return static_cast<uint64_t>(here.uc_mcontext.gregs[number]); };
  taken.copy.registers = {of(REG_RIP) + 1, of(REG_RSP), of(REG_RBP), of(REG_RBX),
                          of(REG_R12),     of(REG_R13), of(REG_R14), of(REG_R15)};
  taken.copy.address = of(REG_RSP);
  taken.copy.bytes.assign(reinterpret_cast<const char*>(of(REG_RSP)), std::min(bytes, end_of_stack() - of(REG_RSP)));
}

__attribute__((noinline)) void deeper(int levels, Taken& taken, size_t bytes) {
  std::array<volatile char, 100> room{};
  room[static_cast<size_t>(levels)] = 1;
  if (levels == 0)
    take(taken, bytes);
  else
    deeper(levels - 1, taken, bytes);
  room[0] = room[static_cast<size_t>(levels)];
}

uint64_t in_file(uint64_t address) {
  Dl_info about{};
  return dladdr(reinterpret_cast<void*>(address), &about) != 0 ? address - reinterpret_cast<uint64_t>(about.dli_fbase)
                                                               : 0;
}

std::vector<uint64_t> offsets(const WalkedStack& walked) {
  std::vector<uint64_t> out;
  for (size_t i = 1; i < walked.frames.size(); ++i) out.push_back(walked.frames[i].offset);
  return out;
}

TEST(StackWalker, FindsTheCallsThatGlibcFinds) {
  StackWalker walker(own_mappings());
  for (const int levels : {0, 3, 20}) {
    Taken taken;
    deeper(levels, taken, kCopied);
    const WalkedStack walked = walker.walk(taken.copy, kDepth);
    std::vector<uint64_t> wanted;
    for (const uint64_t address : taken.wanted) wanted.push_back(in_file(address));
    EXPECT_EQ(offsets(walked), wanted) << levels;
    EXPECT_EQ(walked.end, MLRUN_STACK_ROOT);
    ASSERT_GE(walked.frames.size(), 2u);
    EXPECT_TRUE(walker.path(walked.frames[1].mapping).ends_with("symbols_test"));
    EXPECT_FALSE(walker.build_id(walked.frames.back().mapping).empty());  // of libc
  }
}

TEST(StackWalker, EndsAtTheDepthThatWasAskedFor) {
  StackWalker walker(own_mappings());
  Taken taken;
  deeper(10, taken, kCopied);
  const WalkedStack walked = walker.walk(taken.copy, 4);
  EXPECT_EQ(walked.frames.size(), 4u);
  EXPECT_EQ(walked.end, MLRUN_STACK_DEPTH);
}

TEST(StackWalker, NamesTheReasonWhereTheCopyEnds) {
  StackWalker walker(own_mappings());
  Taken taken;
  deeper(20, taken, 4096);  // of which take() has the first 2 KiB
  const size_t frames = walker.walk(taken.copy, kDepth).frames.size();
  EXPECT_GE(frames, 3u);
  EXPECT_LT(frames, 20u);
  taken.copy.asked_bytes = taken.copy.bytes.size();
  EXPECT_EQ(walker.walk(taken.copy, kDepth).end, MLRUN_STACK_DEPTH);
  taken.copy.asked_bytes = kCopied;
  EXPECT_EQ(walker.walk(taken.copy, kDepth).end, MLRUN_STACK_BROKEN);
  taken.copy.holes.emplace_back(taken.copy.bytes.size() - 512, taken.copy.bytes.size());
  EXPECT_LT(walker.walk(taken.copy, kDepth).frames.size(), frames);
  EXPECT_EQ(walker.walk(taken.copy, kDepth).end, MLRUN_STACK_BROKEN);
  taken.copy.bytes.clear();
  EXPECT_EQ(walker.walk(taken.copy, kDepth).frames.size(), 1u);
}

TEST(StackWalker, EndsAtCodeThatIsInNoFile) {
  std::vector<CodeMapping> mappings = own_mappings();
  Taken taken;
  deeper(1, taken, kCopied);
  StackWalker none({});
  const WalkedStack unknown = none.walk(taken.copy, kDepth);
  ASSERT_EQ(unknown.frames.size(), 1u);
  EXPECT_EQ(unknown.frames[0].mapping, 0u);
  EXPECT_EQ(unknown.frames[0].offset, taken.copy.registers[MLRUN_STACK_PC]);
  EXPECT_EQ(unknown.end, MLRUN_STACK_UNKNOWN_CODE);
  std::erase_if(mappings, [](const CodeMapping& mapping) { return mapping.path.find("libc.so") != std::string::npos; });
  StackWalker without_libc(std::move(mappings));
  const WalkedStack cut = without_libc.walk(taken.copy, kDepth);
  EXPECT_EQ(cut.frames.back().mapping, 0u);
  EXPECT_EQ(cut.end, MLRUN_STACK_UNKNOWN_CODE);
}

TEST(StackWalker, AMissingOrChangedFileEndsTheWalk) {
  for (const bool is_gone : {true, false}) {
    std::vector<CodeMapping> mappings = own_mappings();
    for (CodeMapping& mapping : mappings) {
      if (!mapping.path.ends_with("symbols_test")) continue;
      if (is_gone) mapping.path = "/nowhere/symbols_test";
      if (!is_gone) ++mapping.inode;
    }
    Taken taken;
    deeper(1, taken, kCopied);
    StackWalker walker(std::move(mappings));
    const WalkedStack walked = walker.walk(taken.copy, kDepth);
    ASSERT_EQ(walked.frames.size(), 1u);
    EXPECT_EQ(walked.end, MLRUN_STACK_NO_TABLE);
    EXPECT_TRUE(walker.path(walked.frames[0].mapping).ends_with(is_gone ? "/nowhere/symbols_test" : " (another file)"));
    EXPECT_EQ(walker.build_id(walked.frames[0].mapping), "");
  }
}

// Stacks are written by the processes that are looked at: whatever is in them, a walk ends.
TEST(StackWalker, NoiseOnTheStackEndsTheWalk) {
  StackWalker walker(own_mappings());
  Taken taken;
  deeper(20, taken, kCopied);
  const std::string whole = taken.copy.bytes;
  unsigned seed = 1;
  for (int round = 0; round < 300; ++round) {
    taken.copy.bytes = whole;
    for (int i = 0; i < 200; ++i) {
      taken.copy.bytes[static_cast<size_t>(rand_r(&seed)) % whole.size()] = static_cast<char>(rand_r(&seed));
    }
    EXPECT_LE(walker.walk(taken.copy, kDepth).frames.size(), kDepth);
  }
}

TEST(StackWalker, AFileThatIsNotAProgramIsRefused) {
  std::string path = testing::TempDir() + "mlrun-noise-XXXXXX";
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  const std::string noise(8192, 'x');
  ASSERT_EQ(::write(fd, noise.data(), noise.size()), static_cast<ssize_t>(noise.size()));
  struct stat status {};
  ASSERT_EQ(::fstat(fd, &status), 0);
  ::close(fd);
  StackWalker walker({{0x10000, 0x20000, 0, status.st_ino, path}});
  StackCopy copy;
  copy.registers[MLRUN_STACK_PC] = 0x10100;
  const WalkedStack walked = walker.walk(copy, kDepth);
  ::unlink(path.c_str());
  ASSERT_EQ(walked.frames.size(), 1u);
  EXPECT_EQ(walked.frames[0].offset, 0x100u);
  EXPECT_EQ(walked.end, MLRUN_STACK_NO_TABLE);
}

}  // namespace
}  // namespace mlrun::symbols
