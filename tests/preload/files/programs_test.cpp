// SPDX-License-Identifier: Apache-2.0
// Tests real programs: their output and files are the same with and without the library, and the records of their files
// match strace.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/preload/files/rows.h"
#include "tests/preload/files/strace_counts.h"

namespace mlrun::preload_test {
namespace {

class Programs : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 40; i++) {
      std::ofstream file(folder_ / ("part_" + std::to_string(i)));
      for (int line = 0; line < 50 * i; line++) file << (line * 7919 + i) % 1000 << " line of text\n";
    }
    std::filesystem::create_directory(folder_ / "inner");
    std::ofstream(folder_ / "inner/deep") << "deep";
  }

  // Runs in the folder, twice: the outputs must be equal.
  void expect_same_output(const std::string& script) {
    RunOptions untraced;
    untraced.library = "none";
    const std::vector<std::string> command = {"/bin/sh", "-c", "cd " + folder_.path() + " && " + script};
    const Totals without = run_traced(command, untraced);
    const Totals with = run_traced(command, file_calls_only());
    EXPECT_EQ(with.output, without.output) << script;
    EXPECT_EQ(with.exit_code(), without.exit_code()) << script;
    EXPECT_GT(with.all_records(), 0u) << script;
    EXPECT_EQ(with.torn + with.broken, 0u) << script;
  }

  TemporaryFolder folder_;
};

TEST_F(Programs, CoreutilsDoTheSame) {
  expect_same_output("cat part_* missing 2>&1");
  expect_same_output("cp -a . ../copy.$$ && diff -r . ../copy.$$ && echo same; rm -r ../copy.$$");
  expect_same_output("ls -lAR --time-style=+ . | sort");
  expect_same_output("find . -type f -newer missing 2>&1; find . -size +1k -printf '%s %p\\n' | sort");
  expect_same_output("sort -n --parallel=2 -S 100k part_* | uniq -c | head -50");
  expect_same_output("tar cf - --sort=name --mtime=@0 . | tee /dev/null | tar tvf - | wc; tar cf - part_1 | md5sum");
  expect_same_output(
      "dd if=part_39 of=out bs=777 conv=fsync 2>/dev/null; cksum out; tail -c 5 out; tac out | head -3; rm out");
  expect_same_output("sed -i s/line/LINE/ part_3 && grep -c LINE part_3; wc -l part_*; xargs -n1 echo < inner/deep");
}

TEST_F(Programs, CatAgreesWithStrace) {
  const std::string file = folder_ / "part_39";
  const StraceCounts strace = strace_counts({"cat", file}, file);
  const RecordedRun run({"cat", file});
  size_t reads = 0, empty = 0;
  uint64_t bytes = 0;
  for (const RecordedCall& call : run.calls_on(file)) {
    if (call.func != "read") continue;
    (call.event.result > 0 ? reads : empty)++;
    bytes += static_cast<uint64_t>(call.event.result);
  }
  EXPECT_EQ(reads, strace.reads);
  EXPECT_EQ(empty, strace.empty_reads);
  EXPECT_EQ(bytes, strace.read_bytes);
  EXPECT_EQ(bytes, std::filesystem::file_size(file));
}

TEST_F(Programs, PythonAgreesWithStrace) {
  const std::string file = folder_ / "part_38";
  std::ofstream(folder_ / "reads.py") << R"(
import mmap, os, sys
path = sys.argv[1]
for line in open(path): pass
for size in (1, 100, 70000): open(path, "rb").read(size)
unbuffered = open(path, "rb", buffering=0)
while unbuffered.read(1000): pass
fd = os.open(path, os.O_RDONLY)
os.pread(fd, 500, 100); os.preadv(fd, [bytearray(10), bytearray(20)], 5); os.fstat(fd); os.lseek(fd, 0, 2)
mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:10]
copy = os.dup(fd); os.close(fd); os.lseek(copy, 0, 0); os.read(copy, 10); os.close(copy)
if os.fork() == 0:
    open(path).read(); os._exit(0)
os.wait()
)";
  const std::vector<std::string> command = {"python3", folder_ / "reads.py", file};
  const StraceCounts strace = strace_counts(command, file);
  const RecordedRun run(command);
  ASSERT_EQ(run.exit_code(), 0);
  const auto calls = run.calls_on(file);
  uint64_t bytes = 0;
  size_t reads = 0, opens = 0, closes = 0;
  std::set<uint32_t> pids;
  for (const RecordedCall& call : calls) {
    const bool reads_data = call.func == "read" || call.func == "pread" || call.func == "preadv2";
    if (reads_data && call.event.result > 0) bytes += static_cast<uint64_t>(call.event.result), reads++;
    opens += call.func == "open" || call.func == "openat";
    closes += call.func == "close" && call.event.result == 0;
    pids.insert(call.pid);
  }
  EXPECT_EQ(reads, strace.reads);
  EXPECT_EQ(bytes, strace.read_bytes);
  EXPECT_EQ(opens, strace.opens);
  EXPECT_EQ(closes, strace.closes);
  EXPECT_EQ(pids.size(), 2u);
  EXPECT_EQ(run.calls_of({"mmap"}).back().event.w3, std::filesystem::file_size(file));
}

}  // namespace
}  // namespace mlrun::preload_test
