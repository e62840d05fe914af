// SPDX-License-Identifier: Apache-2.0
// Tests processes, threads and files of a run without a command, from the kernel's records and from /proc.
#include "runner/trace/observed/observed_tasks.h"

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::trace {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

class Records {
 public:
  template <typename Record>
  void add(uint16_t kind, Record record, std::string_view text = {}) {
    const size_t words = sizeof record / sizeof(uint64_t), more = (text.size() + 7) / sizeof(uint64_t);
    record.head.kind = kind;
    record.head.bytes = static_cast<uint16_t>((words + more) * sizeof(uint64_t));
    const size_t at = bytes_.size();
    bytes_.resize(at + words + more);
    std::memcpy(bytes_.data() + at, &record, sizeof record);
    text.copy(reinterpret_cast<char*>(bytes_.data() + at + words), text.size());
  }

  void task(mlrun_task_event event, uint64_t ns, uint32_t pid, uint32_t tid, const char* comm, uint32_t parent = 0) {
    mlrun_task task{};
    task.head.time_ns = ns;
    task.head.pid = pid;
    task.head.tid = tid;
    task.event = event;
    task.parent = parent;
    std::string_view(comm).copy(task.comm, sizeof task.comm);
    add(MLRUN_KERNEL_TASK, task);
  }

  void process(uint64_t ns, uint32_t pid, std::string_view facts, uint32_t claimed_bytes = 0) {
    mlrun_process_seen seen{};
    seen.head.time_ns = ns;
    seen.head.pid = seen.head.tid = pid;
    seen.text_bytes = claimed_bytes != 0 ? claimed_bytes : static_cast<uint32_t>(facts.size());
    add(MLRUN_KERNEL_PROCESS, seen, facts);
  }

  void file(std::string_view path, uint64_t inode, uint64_t ns = 0) {
    mlrun_file_seen seen{};
    seen.head.time_ns = ns;
    seen.inode = inode;
    seen.path_bytes = static_cast<uint32_t>(path.size());
    add(MLRUN_KERNEL_FILE_SEEN, seen, path);
  }

  void path(std::string_view names, uint64_t inode, uint64_t begin_ns, uint32_t flags = 0) {
    mlrun_file_path path{};
    path.head.time_ns = begin_ns + 5;
    path.begin_ns = begin_ns;
    path.inode = inode;
    path.flags = flags;
    path.names_bytes = static_cast<uint32_t>(names.size());
    add(MLRUN_KERNEL_FILE_PATH, path, names);
  }

  void made(uint64_t inode, uint64_t begin_ns) {
    mlrun_file_op operation{};
    operation.op = MLRUN_FILE_OPEN;
    operation.flags = MLRUN_FILE_CREATED;
    operation.inode = inode;
    operation.begin_ns = begin_ns;
    add(MLRUN_KERNEL_FILE_OP, operation);
  }

  // The path that a file of this inode had at each of these times; "?": none.
  std::vector<std::string> paths_at(uint64_t inode, const std::vector<int64_t>& times) const {
    ObservedTasks tasks;
    decode::KernelReader reader(bytes_.data(), bytes_.size() * sizeof(uint64_t));
    while (reader.next()) tasks.add(reader);
    model::TraceInfo info;
    tasks.finish(info, 100);
    FilesByInode files(info.files, tasks.files().seen(), tasks.files().made());
    std::vector<std::string> paths;
    for (const int64_t ns : times) {
      const int64_t file_id = files.find(0, inode, ns);
      paths.push_back(file_id == 0 ? "?" : info.files[static_cast<size_t>(file_id) - 1].path);
    }
    return paths;
  }

  model::TraceInfo finish(uint64_t end_ns, const ObservedTasks::Limits& limits = {}) {
    ObservedTasks tasks(limits);
    decode::KernelReader reader(bytes_.data(), bytes_.size() * sizeof(uint64_t));
    while (reader.next()) tasks.add(reader);
    model::TraceInfo info;
    tasks.finish(info, static_cast<int64_t>(end_ns));
    const model::Run session = model::run_of({{"observed", {{"scope", "processes"}}}});
    tasks.add_gaps(session, 0, info);
    return info;
  }

 private:
  std::vector<uint64_t> bytes_;
};

bool covers(const model::TraceInfo& info, std::string_view subject) {
  for (const model::CoverageRow& row : info.coverage) {
    if (row.subject == subject) return true;
  }
  return false;
}

TEST(ObservedTasks, AChildHasItsParentAndTheNameOfItsLastProgram) {
  Records records;
  records.process(10, 5, R"({"ppid":1,"start_ticks":7,"exe":"/bin/sh","command":"sh loader"})");
  records.task(MLRUN_TASK_FORK, 20, 6, 6, "sh", 5);
  records.task(MLRUN_TASK_EXEC, 30, 6, 6, "dd");
  records.process(35, 6,
                  R"({"ppid":5,"start_ticks":9,"ns_pid":2,"pid_namespace":77,"exe":"/bin/dd","command":"dd of=x"})");
  records.task(MLRUN_TASK_EXIT, 40, 6, 6, "dd");
  const model::TraceInfo info = records.finish(100);
  ASSERT_EQ(info.processes.size(), 2u);
  EXPECT_EQ(info.processes[0].last_ns, 100);
  EXPECT_EQ(info.processes[1].parent_proc_id, info.processes[0].proc_id);
  EXPECT_EQ(info.processes[1].command, "dd of=x");
  EXPECT_EQ(info.processes[1].last_ns, 40);
  EXPECT_EQ(info.processes[1].pid, 6);
  EXPECT_EQ(info.processes[1].ns_pid, 2);
  EXPECT_EQ(info.processes[1].pid_namespace, 77);
  EXPECT_FALSE(info.processes[1].forked);
  ASSERT_EQ(info.images.size(), 3u);
  EXPECT_EQ(info.images[1].exe, "/bin/sh");
  EXPECT_EQ(info.images[2].exe, "/bin/dd");
  EXPECT_FALSE(covers(info, "arguments of processes"));
}

TEST(ObservedTasks, AProcessThatWasNotReadHasTheNameOfItsThreadAndIsCounted) {
  Records records;
  records.task(MLRUN_TASK_FORK, 20, 6, 6, "sh", 5);
  records.task(MLRUN_TASK_EXEC, 30, 6, 6, "true");
  records.task(MLRUN_TASK_EXIT, 40, 6, 6, "true");
  const model::TraceInfo info = records.finish(100);
  ASSERT_EQ(info.processes.size(), 1u);
  EXPECT_EQ(info.processes[0].command, "[true]");
  EXPECT_EQ(info.processes[0].ns_pid, 0) << "it may live in another pid namespace";
  EXPECT_TRUE(covers(info, "arguments of processes"));
}

TEST(ObservedTasks, ASnapshotThatCameTooLateMakesNoSecondProcessAndANumberUsedAgainDoes) {
  Records records;
  records.task(MLRUN_TASK_FORK, 20, 6, 6, "sh", 5);
  records.task(MLRUN_TASK_EXIT, 40, 6, 6, "sh");
  records.process(50, 6, R"({"ppid":5,"start_ticks":9})");
  records.task(MLRUN_TASK_SEEN, 50, 6, 6, "sh");
  EXPECT_EQ(records.finish(100).processes.size(), 1u);
  records.process(2 * kSecond, 6, R"({"ppid":1,"start_ticks":99,"command":"other"})");
  const model::TraceInfo info = records.finish(3 * kSecond);
  ASSERT_EQ(info.processes.size(), 2u);
  EXPECT_EQ(info.processes[1].command, "other");
}

TEST(ObservedTasks, AProcessEndsWithTheLastOfItsThreads) {
  Records records;
  records.task(MLRUN_TASK_FORK, 20, 6, 6, "main", 5);
  records.task(MLRUN_TASK_FORK, 30, 6, 7, "early", 6);
  records.task(MLRUN_TASK_FORK, 31, 6, 8, "late", 6);
  records.task(MLRUN_TASK_EXIT, 40, 6, 6, "main");  // exit_group: the first thread's end is recorded first
  records.task(MLRUN_TASK_EXIT, 41, 6, 7, "early");
  records.task(MLRUN_TASK_SEEN, 42, 6, 7, "early");               // its folder in /proc was there still
  records.task(MLRUN_TASK_EXIT, 40 + 2 * kSecond, 6, 8, "late");  // in the kernel for long
  const model::TraceInfo info = records.finish(9 * kSecond);
  ASSERT_EQ(info.processes.size(), 1u);
  EXPECT_EQ(info.processes[0].last_ns, 40 + 2 * kSecond);
  ASSERT_EQ(info.threads.size(), 3u);
  EXPECT_EQ(info.threads[0].last_ns, 40);
  EXPECT_EQ(info.threads[1].last_ns, 41);
  EXPECT_EQ(info.threads[2].last_ns, 40 + 2 * kSecond);
}

TEST(ObservedTasks, AMainThreadThatEndsAloneLeavesItsProcessToTheOthers) {
  Records records;
  records.process(10, 6, R"({"ppid":1,"start_ticks":7,"exe":"/bin/loader","command":"loader"})");
  records.task(MLRUN_TASK_SEEN, 11, 6, 6, "main");
  records.task(MLRUN_TASK_FORK, 20, 6, 7, "worker", 6);
  records.task(MLRUN_TASK_EXIT, 30, 6, 6, "main");
  records.task(MLRUN_TASK_FORK, 5 * kSecond, 6, 8, "worker", 6);
  records.task(MLRUN_TASK_EXIT, 6 * kSecond, 6, 7, "worker");
  records.task(MLRUN_TASK_EXIT, 7 * kSecond, 6, 8, "worker");
  const model::TraceInfo info = records.finish(9 * kSecond);
  ASSERT_EQ(info.processes.size(), 1u);
  EXPECT_EQ(info.processes[0].ppid, 1);
  EXPECT_EQ(info.processes[0].command, "loader");
  EXPECT_EQ(info.processes[0].last_ns, 7 * kSecond);
  ASSERT_EQ(info.threads.size(), 3u);
  EXPECT_EQ(info.threads[0].last_ns, 30);
  EXPECT_EQ(info.threads[2].proc_id, info.processes[0].proc_id);
}

TEST(ObservedTasks, ANewThreadOfAnUnknownProcessIsNotItsFork) {
  Records records;
  records.task(MLRUN_TASK_FORK, 20, 6, 7, "worker", 6);
  records.task(MLRUN_TASK_EXIT, 30, 6, 7, "worker");
  records.task(MLRUN_TASK_FORK, 5 * kSecond, 6, 8, "worker", 6);
  records.task(MLRUN_TASK_EXIT, 6 * kSecond, 6, 9, "unknown");
  records.task(MLRUN_TASK_EXIT, 6 * kSecond, 11, 12, "stranger");
  const model::TraceInfo info = records.finish(9 * kSecond);
  ASSERT_EQ(info.processes.size(), 1u);
  EXPECT_EQ(info.processes[0].ppid, model::ProcessRow{}.ppid);
  EXPECT_FALSE(info.processes[0].forked);
  EXPECT_EQ(info.processes[0].last_ns, 9 * kSecond) << "its first thread has not ended";
  EXPECT_EQ(info.threads.size(), 2u);
}

// The kernel records the first thread's end, then an exec under its number; the caller's own number has no end record.
TEST(ObservedTasks, AnExecByAWorkerStaysInTheSameProcess) {
  for (const bool knows_the_worker : {true, false}) {
    Records records;
    records.process(10, 6, R"({"ppid":1,"start_ticks":7,"exe":"/bin/old","command":"old"})");
    records.task(MLRUN_TASK_SEEN, 11, 6, 6, "old");
    if (knows_the_worker) records.task(MLRUN_TASK_FORK, 20, 6, 7, "worker", 6);
    records.task(MLRUN_TASK_EXIT, 30, 6, 6, "old");
    records.task(MLRUN_TASK_EXEC, 31, 6, 6, "new");
    records.process(35, 6, R"({"ppid":1,"start_ticks":7,"exe":"/bin/new","command":"new"})");
    records.task(MLRUN_TASK_SEEN, 36, 6, 6, "new");
    records.task(MLRUN_TASK_EXIT, 3 * kSecond, 6, 6, "new");
    const model::TraceInfo info = records.finish(9 * kSecond);
    ASSERT_EQ(info.processes.size(), 1u) << knows_the_worker;
    EXPECT_EQ(info.processes[0].command, "new");
    EXPECT_EQ(info.processes[0].last_ns, 3 * kSecond);
    ASSERT_EQ(info.images.size(), 2u);
    EXPECT_EQ(info.images[0].exe, "/bin/old");
    EXPECT_EQ(info.images[1].exe, "/bin/new");
    EXPECT_EQ(info.images[1].proc_id, info.processes[0].proc_id);
    ASSERT_EQ(info.threads.size(), knows_the_worker ? 3u : 2u);
    EXPECT_EQ(info.threads.back().image_id, info.images[1].image_id);
    EXPECT_EQ(info.threads.back().last_ns, 3 * kSecond);
    EXPECT_EQ(info.threads[info.threads.size() - 2].last_ns, knows_the_worker ? 31 : 30);
    EXPECT_FALSE(covers(info, "arguments of processes"));
  }
}

TEST(ObservedTasks, AProcessKnownOnlyByItsEndHasARow) {
  Records records;
  records.task(MLRUN_TASK_EXIT, 20, 6, 7, "worker");
  records.task(MLRUN_TASK_EXIT, 21, 6, 6, "idle");
  records.task(MLRUN_TASK_EXIT, 22, 6, 8, "worker");
  const model::TraceInfo info = records.finish(100);
  ASSERT_EQ(info.processes.size(), 1u);
  EXPECT_EQ(info.processes[0].command, "[idle]");
  EXPECT_EQ(info.processes[0].last_ns, 21);
  EXPECT_TRUE(covers(info, "arguments of processes"));
}

TEST(ObservedTasks, AFileThatIsSeenAgainIsOneRow) {
  Records records;
  records.file("/a", 12, 10);
  records.file("/a", 12, 20);
  records.file("/b", 12, 30);
  records.file("/a", 13, 40);
  EXPECT_EQ(records.finish(100).files.size(), 3u);
}

using Paths = std::vector<std::string>;

TEST(ObservedTasks, APathIsThatOfTheOpenThatRecordedIt) {
  Records records;
  records.path("file/folder/", 12, 10);
  records.path("two/links/", 12, 20);
  records.path("file/folder/", 12, 30);
  records.path("", 2, 10, MLRUN_PATH_FOLDER);
  EXPECT_EQ(records.paths_at(12, {5, 10, 19, 20, 29, 30, 99}),
            (Paths{"/folder/file", "/folder/file", "/folder/file", "/links/two", "/links/two", "/folder/file",
                   "/folder/file"}));
  EXPECT_EQ(records.paths_at(2, {10}), (Paths{"/"}));
  const model::TraceInfo info = records.finish(100);
  ASSERT_EQ(info.files.size(), 3u);
  EXPECT_EQ(info.files[0].kind, "regular");
  EXPECT_EQ(info.files[2].kind, "directory");
}

TEST(ObservedTasks, AFileThatIsMadeAgainHasThePathRecordedMeanwhile) {
  Records records;
  records.path("old/", 12, 10);
  records.path("new/", 12, 20, MLRUN_PATH_CREATED);
  records.made(12, 20);
  records.made(12, 30);  // its path was lost
  records.path("new/", 12, 40);
  records.path("new/", 12, 50, MLRUN_PATH_CREATED);
  records.made(12, 50);
  EXPECT_EQ(records.paths_at(12, {19, 20, 29, 35, 45, 50, 99}),
            (Paths{"/old", "/new", "/new", "/new", "/new", "/new", "/new"}));
  EXPECT_EQ(records.finish(100).files.size(), 2u);
}

TEST(ObservedTasks, ARepeatedPathTakesNoRoom) {
  Records records;
  for (uint64_t ns = 1; ns < 50; ns++) records.path("some/", 12, ns);
  EXPECT_TRUE(records.finish(100, {.files = 1, .text_bytes = 5}).losses.empty());
  records.path("other/", 12, 60);
  EXPECT_EQ(records.finish(100, {.files = 2, .text_bytes = 10}).losses.size(), 1u);
  EXPECT_EQ(records.finish(100, {.files = 1, .text_bytes = 100}).losses.size(), 1u);
}

TEST(ObservedTasks, RecordsBeyondTheLimitAreCounted) {
  constexpr std::string_view kFacts = R"({"ppid":1})";
  const auto lost = [](const model::TraceInfo& info) {
    std::map<std::string, int64_t> counts;
    for (const model::LossRow& row : info.losses) counts[row.unit] += row.count;
    return counts;
  };
  Records records;
  for (uint32_t pid = 5; pid < 9; pid++) records.task(MLRUN_TASK_FORK, pid, pid, pid, "sh", 1);
  records.process(20, 5, kFacts);
  for (uint64_t inode = 1; inode < 4; inode++) records.file("/some/file", inode);
  EXPECT_TRUE(lost(records.finish(100)).empty());
  using Counts = std::map<std::string, int64_t>;
  EXPECT_EQ(lost(records.finish(100, {.events = 3})),
            (Counts{{"begins, execs and ends of threads", 1}, {"/proc snapshots of processes", 1}}));
  EXPECT_EQ(lost(records.finish(100, {.files = 1})), (Counts{{"names of files", 2}}));
  EXPECT_EQ(lost(records.finish(100, {.text_bytes = kFacts.size() + 1})), (Counts{{"names of files", 3}}));
  EXPECT_EQ(lost(records.finish(100, {.text_bytes = 0})),
            (Counts{{"/proc snapshots of processes", 1}, {"names of files", 3}}));
}

// What is no UTF-8 takes four times the room.
TEST(ObservedTasks, NamesTakeTheRoomThatTheyAreKeptIn) {
  Records records;
  records.file("/\x80\x81\x82", 1);
  EXPECT_TRUE(records.finish(100, {.text_bytes = 13}).losses.empty());
  EXPECT_EQ(records.finish(100, {.text_bytes = 12}).losses.size(), 1u);
}

TEST(ObservedTasks, InvalidRecordsDoNoHarm) {
  Records records;
  records.process(10, 5, R"({"ppid":1})", 60'000);  // longer than the record
  records.process(11, 5, "no json");
  records.process(12, 5, R"({"ppid":"one","command":7})");
  records.task(MLRUN_TASK_FORK, 20, 6, 6, "self", 6);
  records.task(static_cast<mlrun_task_event>(99), 21, 7, 7, "?");
  mlrun_file_seen file{};
  file.path_bytes = 60'000;
  records.add(MLRUN_KERNEL_FILE_SEEN, file, "/short");
  mlrun_file_path path{};
  path.names_bytes = 60'000;
  records.add(MLRUN_KERNEL_FILE_PATH, path, "short/");
  const model::TraceInfo info = records.finish(100);
  EXPECT_EQ(info.processes.size(), 2u);
  EXPECT_TRUE(info.files.empty());
}

}  // namespace
}  // namespace mlrun::trace
