// SPDX-License-Identifier: Apache-2.0
// Tests what is read of processes, here of this one: which records are made, and when.
#include "kprobes/proc/process_snapshots.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kprobes/proc/proc_facts.h"
#include "runner/decode/kernel_view.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/util/clock.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {
namespace {

util::UniqueFd temporary_file(std::string& path) {
  path = testing::TempDir() + "mlrun-snapshots-XXXXXX";
  return util::UniqueFd(::mkstemp(path.data()));
}

class ProcessSnapshotsTest : public testing::Test {
 protected:
  void SetUp() override {
    file_ = temporary_file(spool_path_);
    ASSERT_TRUE(file_.valid());
    spool_.emplace(file_.get());
    snapshots_.emplace(*spool_, [this] {
      drains_++;
      if (when_drained_) when_drained_();
    });
  }
  void TearDown() override { ::unlink(spool_path_.c_str()); }

  void take_task(mlrun_task_event event, uint32_t pid, uint64_t ns) {
    mlrun_task task{};
    task.head = {MLRUN_KERNEL_TASK, sizeof task, 0, ns, pid, pid};
    task.event = event;
    snapshots_->take(task.head, &task, sizeof task);
  }
  void read_all() {
    while (snapshots_->read()) {
    }
  }

  template <typename Visit>
  void for_each_record(Visit visit) {
    spool_->flush();
    trace::SpoolCursor cursor(file_.get(), 0, spool_->bytes(), spool_->bytes());
    trace::SpoolFrame frame;
    for (;;) {
      const auto more = cursor.next(frame);
      ASSERT_TRUE(more.has_value());
      if (!*more) return;
      decode::KernelReader reader(frame.payload, frame.header.payload_bytes);
      while (reader.next()) visit(reader);
    }
  }
  size_t processes_recorded() {
    size_t count = 0;
    for_each_record([&](const decode::KernelReader& reader) {
      if (reader.head().kind == MLRUN_KERNEL_PROCESS && reader.head().pid == own_pid_) count++;
    });
    return count;
  }
  std::vector<mlrun_file_seen> records_of(std::string_view path) {
    std::vector<mlrun_file_seen> records;
    for_each_record([&](const decode::KernelReader& reader) {
      mlrun_file_seen seen{};
      if (reader.head().kind != MLRUN_KERNEL_FILE_SEEN || !reader.read(seen)) return;
      if (reader.text(sizeof seen, seen.path_bytes) == path) records.push_back(seen);
    });
    return records;
  }

  const uint32_t own_pid_ = static_cast<uint32_t>(::getpid());
  std::string spool_path_;
  util::UniqueFd file_;
  std::optional<KernelSpool> spool_;
  std::optional<ProcessSnapshots> snapshots_;
  std::function<void()> when_drained_;
  int drains_ = 0;
};

TEST_F(ProcessSnapshotsTest, AFileThatReusesAnInodeNumberHasItsNameRecorded) {
  std::string path;
  const util::UniqueFd open_file = temporary_file(path);
  ASSERT_TRUE(open_file.valid());
  take_task(MLRUN_TASK_FORK, own_pid_, 1);
  read_all();
  const auto before = records_of(path);
  ASSERT_EQ(before.size(), 1u);

  mlrun_file_op operation{};
  operation.head = {MLRUN_KERNEL_FILE_OP, sizeof operation, 0, util::monotonic_ns(), own_pid_, own_pid_};
  operation.op = MLRUN_FILE_OPEN;
  operation.device = before[0].device;
  operation.inode = before[0].inode;
  snapshots_->take(operation.head, &operation, sizeof operation);
  read_all();
  EXPECT_EQ(records_of(path).size(), 1u) << "opened, and its name is known";

  mlrun_file_path reported{};
  reported.head = {MLRUN_KERNEL_FILE_PATH, sizeof reported, 0, util::monotonic_ns(), own_pid_, own_pid_};
  reported.device = before[0].device;
  reported.inode = before[0].inode;
  operation.flags = MLRUN_FILE_CREATED;
  operation.begin_ns = reported.head.time_ns - 1;
  snapshots_->take(reported.head, &reported, sizeof reported);
  snapshots_->take(operation.head, &operation, sizeof operation);
  for (int i = 0; i < 100; i++) read_all();
  EXPECT_EQ(records_of(path).size(), 1u) << "the kernel has told its name while it was made";

  operation.begin_ns = util::monotonic_ns();
  snapshots_->take(operation.head, &operation, sizeof operation);
  while (records_of(path).size() < 2) read_all();  // files have a share of the time
  EXPECT_GE(records_of(path)[1].head.time_ns, operation.head.time_ns);
  ::unlink(path.c_str());
}

TEST_F(ProcessSnapshotsTest, AProcessReadDuringAnExecIsNotRecorded) {
  when_drained_ = [this] {
    when_drained_ = nullptr;
    take_task(MLRUN_TASK_EXEC, own_pid_, util::monotonic_ns());
    EXPECT_EQ(processes_recorded(), 0u);
  };
  take_task(MLRUN_TASK_FORK, own_pid_, 1);
  read_all();
  EXPECT_EQ(processes_recorded(), 1u) << "it is read again";
}

TEST_F(ProcessSnapshotsTest, AnExecBeforeTheReadIsNotOneDuringIt) {
  when_drained_ = [this] {
    when_drained_ = nullptr;
    take_task(MLRUN_TASK_EXEC, own_pid_, 2);
  };
  take_task(MLRUN_TASK_FORK, own_pid_, 1);
  read_all();
  EXPECT_EQ(processes_recorded(), 2u);
}

TEST_F(ProcessSnapshotsTest, AStartedCommandIsDescribedAtItsExecAndNotBefore) {
  const util::UniqueFd own(static_cast<int>(::syscall(SYS_pidfd_open, own_pid_, 0)));
  ASSERT_TRUE(own.valid());
  snapshots_->await_exec(own.get());
  mlrun_file_op operation{};
  operation.head = {MLRUN_KERNEL_FILE_OP, sizeof operation, 0, util::monotonic_ns(), own_pid_, own_pid_};
  operation.op = MLRUN_FILE_OPEN;
  snapshots_->take(operation.head, &operation, sizeof operation);
  read_all();
  EXPECT_EQ(processes_recorded(), 0u) << "it still runs mlrun's program";
  take_task(MLRUN_TASK_EXEC, own_pid_, util::monotonic_ns());
  read_all();
  EXPECT_EQ(processes_recorded(), 1u);
}

TEST_F(ProcessSnapshotsTest, TheRingIsDrainedBetweenProcessesAndNewOnesMayComeMeanwhile) {
  constexpr uint32_t kNone = 0x7fff0000;  // above all numbers that the kernel gives
  uint32_t next = kNone;
  when_drained_ = [&] {
    if (next < kNone + 100) take_task(MLRUN_TASK_FORK, next++, 1);
  };
  take_task(MLRUN_TASK_FORK, own_pid_, 1);
  read_all();
  EXPECT_EQ(next, kNone + 100);
  EXPECT_GE(drains_, 101);
  EXPECT_EQ(processes_recorded(), 1u);
}

constexpr uid_t kNobody = 65534;

void* wait_for_the_end(void*) {
  for (;;) ::pause();
}

// A process whose first thread has exited. Under root it drops to an unprivileged user. It writes to `told` when it is
// ready.
pid_t process_without_first_thread(int reported) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(1);
  ::prctl(PR_SET_DUMPABLE, 1);
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, wait_for_the_end, nullptr) != 0) ::_exit(1);
  ::close(reported);
  ::syscall(SYS_exit, 0);
  return 0;
}

TEST_F(ProcessSnapshotsTest, AProcessWhoseFirstThreadHasEndedKeepsItsProgramAndFiles) {
  std::string path;
  const util::UniqueFd open_file = temporary_file(path);
  int reported[2];
  ASSERT_EQ(::pipe(reported), 0);
  const pid_t child = process_without_first_thread(reported[1]);
  ASSERT_GT(child, 0);
  const auto pid = static_cast<uint32_t>(child);
  ::close(reported[1]);
  char none = 0;
  EXPECT_EQ(::read(reported[0], &none, 1), 0);  // waits until the other end is closed
  while (living_folder(pid) == "/proc/" + std::to_string(pid)) ::sched_yield();

  EXPECT_TRUE(living_folder(pid).starts_with("/proc/" + std::to_string(pid) + "/task/"));
  EXPECT_EQ(owner_of(pid), ::geteuid() == 0 ? kNobody : ::geteuid());
  const auto facts = nlohmann::json::parse(process_text(pid), nullptr, false);
  const auto own = nlohmann::json::parse(process_text(own_pid_));
  ASSERT_TRUE(facts.is_object());
  for (const char* key : {"exe", "command", "cwd", "cgroup", "pid_namespace"}) EXPECT_EQ(facts[key], own[key]) << key;
  EXPECT_EQ(facts["ppid"], own_pid_);
  EXPECT_EQ(facts["ns_pid"], pid);
  take_task(MLRUN_TASK_FORK, pid, 1);
  read_all();
  EXPECT_EQ(records_of(path).size(), 1u) << "it has open what its parent had";
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(living_folder(pid), "");
  EXPECT_EQ(owner_of(pid), std::nullopt);
  ::close(reported[0]);
  ::unlink(path.c_str());
}

TEST_F(ProcessSnapshotsTest, RecordsAreStampedWhenTheirProcessIsRead) {
  take_task(MLRUN_TASK_FORK, own_pid_, 1);
  const uint64_t before_ns = util::monotonic_ns();
  uint64_t drained_ns = 0;
  when_drained_ = [&] { drained_ns = drained_ns == 0 ? util::monotonic_ns() : drained_ns; };
  read_all();
  for_each_record([&](const decode::KernelReader& reader) {
    EXPECT_GE(reader.head().time_ns, before_ns);
    if (reader.head().kind == MLRUN_KERNEL_PROCESS) {
      EXPECT_LE(reader.head().time_ns, drained_ns);
    } else {
      EXPECT_GE(reader.head().time_ns, drained_ns) << "read behind it";
    }
  });
}

}  // namespace
}  // namespace mlrun::probes
