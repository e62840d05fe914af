// SPDX-License-Identifier: Apache-2.0
// Tests forked, vforked and executed processes: each records under its own identity and into its own segments.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "preload/core/call_kind.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

TEST(Fork, FourBusyChildrenAndTheirParentLoseNoCall) {
  std::map<uint32_t, uint64_t> by_process;
  RunOptions options;
  options.on_record = [&](const RecordView& r) { by_process[r.descriptor->process] += r.kind() == KIND_pread ? 1 : 0; };
  const Totals t = run_traced({victim("forks"), "busy", "4", "300000"}, options);
  EXPECT_EQ(t.of(KIND_pread), 1500001);
  EXPECT_EQ(t.torn, 0);
  EXPECT_EQ(t.of(MLRUN_PROCESS), 5);
  EXPECT_EQ(t.of(KIND_fork), 4);
  ASSERT_EQ(by_process.size(), 5);
  for (const auto& [process, calls] : by_process) EXPECT_GE(calls, 300000) << "process " << process;
}

TEST(Fork, TwoThousandShortChildrenLoseNoCall) {
  const Totals t = run_traced({victim("forks"), "short", "2000", "10"});
  EXPECT_EQ(t.of(KIND_pread), 20001);
  EXPECT_EQ(t.channels, 2001);
  EXPECT_EQ(t.of(MLRUN_PROCESS), 2001);
  EXPECT_EQ(t.failures[MLRUN_FAIL_NO_CHANNEL], 0);
  EXPECT_EQ(t.all_drops(), 0);
}

TEST(Fork, InASignalHandlerDuringAnOpenGivesNoFileNumberTwice) {
  const std::string fifo = testing::TempDir() + "mlrun_fifo." + std::to_string(getpid());
  std::vector<uint32_t> numbers;
  RunOptions options;
  options.on_record = [&](const RecordView& r) {
    if (r.kind() == MLRUN_FILE) numbers.push_back(r.arg());
  };
  const Totals t = run_traced({victim("forks_in_open"), fifo}, options);
  std::filesystem::remove(fifo);
  ASSERT_EQ(t.exit_code(), 0) << t.output;
  EXPECT_GE(numbers.size(), 3 + 2 * 21 + 1);
  EXPECT_EQ(std::set<uint32_t>(numbers.begin(), numbers.end()).size(), numbers.size());
}

TEST(Fork, InAPidNamespaceLosesNoCall) {
  if (std::system("unshare -pf --mount-proc true 2>&1") != 0) GTEST_SKIP() << "no pid namespace may be made here";
  const Totals t = run_traced({"unshare", "-pf", "--mount-proc", victim("forks"), "short", "300", "10"});
  EXPECT_EQ(t.of(KIND_pread), 3001);
  EXPECT_EQ(t.live_at_end, 0);
}

TEST(Fork, ThatLibcDoesNotKnowOfLosesNoCall) {
  const Totals t = run_traced({victim("raw_forks"), "first"});
  EXPECT_EQ(t.of(KIND_pread), 61);
  EXPECT_EQ(t.live_at_end, 0);
  EXPECT_EQ(t.channels, 7);
}

TEST(Fork, RecordsNameTheChildAndItsParent) {
  std::set<int64_t> made;
  std::set<uint32_t> born;
  uint32_t parent = 0, loaded = 0;
  std::set<uint64_t> parents, images;
  RunOptions options;
  options.on_record = [&](const RecordView& r) {
    if (r.kind() == KIND_fork) made.insert(r.result());
    if (r.kind() != MLRUN_PROCESS) return;
    images.insert(r.words[MLRUN_PW_NUMBERS] >> 32);
    const bool forked = (r.words[MLRUN_PW_ORIGIN] >> 8 & 0xff) == MLRUN_PROCESS_FORKED;
    const auto origin = static_cast<uint32_t>(r.words[MLRUN_PW_ORIGIN] >> 32);
    if (forked) {
      born.insert(r.arg());
      parents.insert(origin);
    } else {
      loaded = r.arg();
      parent = origin;
      EXPECT_GT(r.words[MLRUN_PW_START] >> 8, 0);
    }
  };
  run_traced({victim("forks"), "short", "20", "1"}, options);
  EXPECT_EQ(made.size(), 20);
  EXPECT_EQ(std::set<int64_t>(born.begin(), born.end()), made);
  EXPECT_EQ(parents, std::set<uint64_t>{loaded});
  EXPECT_EQ(parent, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(images.size(), 1);  // a forked child keeps the image
}

TEST(Fork, ChildDoesNotWaitForALockThatItsParentHeld) {
  const Totals t = run_traced({victim("loader_lock")});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 1);
}

TEST(Vfork, ChildrenTouchNeitherTheParentsRecordsNorItsDescriptors) {
  std::map<uint64_t, uint64_t> file_of_offset;
  uint64_t changed = 0, unknown = 0;
  RunOptions options;
  options.on_record = [&](const RecordView& r) {
    if (r.kind() != KIND_pread) return;
    const uint64_t file = r.words[6] >> 8 & 0xffffffff;  // the victim's i-th descriptor is read at offset i
    unknown += file == 0 ? 1 : 0;
    changed += file_of_offset.emplace(r.words[5], file).first->second != file ? 1 : 0;
  };
  const Totals t = run_traced({victim("vforks"), "1500"}, options);
  EXPECT_EQ(t.number("bad"), 0);
  EXPECT_EQ(t.of(KIND_pread), 15000);
  EXPECT_EQ(unknown, 0);
  EXPECT_EQ(changed, 0);
  EXPECT_EQ(t.of(KIND_vfork), 1000);
  EXPECT_EQ(t.of(KIND_posix_spawn), 500);
  EXPECT_EQ(t.of(KIND_execve), 500);
  EXPECT_EQ(t.of(MLRUN_PROCESS), 1 + 1000);
}

TEST(Vfork, ChildMayFork) {
  const Totals t = run_traced({victim("vfork_forks")});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(t.of(KIND_pread), 2);
  EXPECT_EQ(t.live_at_end, 0);
}

TEST(Python, SubprocessesLeaveTheParentsDescriptorsAlone) {
  std::set<uint64_t> files;
  uint64_t of_one = 0;
  RunOptions options;
  options.on_record = [&](const RecordView& r) {
    if (r.kind() != KIND_pread || r.words[5] != 77) return;
    of_one++;
    files.insert(r.words[6] >> 8 & 0xffffffff);
  };
  const Totals t = run_traced({"python3", "-c",
                               "import os, subprocess\n"
                               "fd = os.open('/dev/zero', os.O_RDONLY)\n"
                               "for i in range(100):\n"
                               "  subprocess.run(['/bin/true'], close_fds=True)\n"
                               "  subprocess.run(['/bin/echo'], stdout=subprocess.DEVNULL)\n"
                               "  os.pread(fd, 8, 77)\n"},
                              options);
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(of_one, 100);
  EXPECT_EQ(files.size(), 1);
  EXPECT_EQ(files.count(0), 0);
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cgroup_of_this_process() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("0::", 0) == 0) return line;  // of the unified hierarchy
  return first_line("/proc/self/cgroup");
}

uint64_t start_ticks_of_this_process() {
  const std::string stat = first_line("/proc/self/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string field;
  for (int i = 3; i <= 22; i++) fields >> field;
  return std::stoull(field);
}

TEST(ProcessRecord, HasTheValuesOfProc) {
  std::map<uint64_t, std::string> strings;
  std::vector<uint64_t> w(MLRUN_PW_WORDS);
  RunOptions options{.environment = {{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}}};
  options.on_record = [&](const RecordView& r) {
    if (r.kind() == MLRUN_STRING) strings[r.words[1]] = fragment_text(r);
    if (r.kind() == MLRUN_PROCESS) w.assign(r.words, r.words + MLRUN_PW_WORDS);
  };
  run_traced({"env", "-C", "/usr", victim("calls"), "1", "_exit"}, options);  // the last record is the victim's
  EXPECT_EQ(strings[w[MLRUN_PW_EXE]], std::filesystem::canonical(victim("calls")));
  EXPECT_EQ(strings[w[MLRUN_PW_ARGUMENTS]], victim("calls") + std::string("\0001\0_exit\0", 9));
  EXPECT_EQ(strings[w[MLRUN_PW_CWD]], "/usr");
  EXPECT_EQ(strings[w[MLRUN_PW_CGROUP]], cgroup_of_this_process());
  EXPECT_NE(strings[w[MLRUN_PW_ALLOCATOR]].find("libc.so.6"), std::string::npos);
  const std::string inode = std::to_string(w[MLRUN_PW_NAMESPACE] >> 8);
  EXPECT_EQ("pid:[" + inode + "]", std::filesystem::read_symlink("/proc/self/ns/pid"));
  EXPECT_GE(w[MLRUN_PW_START] >> 8, start_ticks_of_this_process());
  EXPECT_LT(w[MLRUN_PW_START] >> 8, start_ticks_of_this_process() + 100 * 3600);
  EXPECT_EQ(w[MLRUN_PW_UID] >> 8 & 0xffffffff, getuid());
  EXPECT_EQ(w[MLRUN_PW_UID] >> 40, 1);  // glibc's malloc
  EXPECT_EQ(w[MLRUN_PW_RANK] >> 8 & 0xfffff, 4);
  EXPECT_EQ(w[MLRUN_PW_RANK] >> 28 & 0xffff, 2);
  EXPECT_EQ(w[MLRUN_PW_RANK] >> 44, 8);
}

TEST(ProcessRecord, EndsWithTheRankThatTheProcessGaveItself) {
  for (const bool is_launched : {false, true}) {
    uint64_t at_first = 0, at_last = 0;
    RunOptions options;
    if (is_launched) options.environment = {{"RANK", "3"}};
    options.on_record = [&](const RecordView& r) {
      if (r.kind() == MLRUN_PROCESS) at_first = r.words[MLRUN_PW_RANK];
      if (r.kind() == MLRUN_END) at_last = r.words[MLRUN_EW_RANK];
    };
    run_traced({"/usr/bin/python3", "-c", "import os; os.environ.update(RANK='5', WORLD_SIZE='8')"}, options);
    EXPECT_EQ(at_first >> 8 & 0xfffff, is_launched ? 4u : 0u);
    EXPECT_EQ(at_last >> 8 & 0xfffff, is_launched ? 0u : 6u);
    EXPECT_EQ(at_last >> 44, is_launched ? 0u : 8u);
  }
}

}  // namespace
}  // namespace mlrun::preload_test
