// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/store/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <fstream>

#include "runner/sweep/store/folder_lock.h"
#include "runner/util/clock.h"
#include "tests/runner/sweep/store/store_kit.h"

namespace mlrun::sweep {
namespace {

class StoreTest : public InFolder {
 protected:
  [[nodiscard]] Store created(const Plan& plan) const {
    auto store = Store::create(folder_, plan, runs_of(plan));
    EXPECT_TRUE(store) << store.error().text;
    return *std::move(store);
  }
  [[nodiscard]] Sweep read() const {
    auto sweep = read_sweep(folder_);
    EXPECT_TRUE(sweep) << sweep.error().text;
    return *std::move(sweep);
  }
};

TEST_F(StoreTest, HasARowForEachRunBeforeAnyStarts) {
  const Plan plan = small_plan();
  const Store store = created(plan);
  const Sweep sweep = read();
  ASSERT_EQ(sweep.runs.size(), 12u);
  for (size_t i = 0; i < sweep.runs.size(); ++i) {
    const PlannedRun wanted = runs_of(plan)[i];
    const RunRow& run = sweep.runs[i];
    EXPECT_EQ(run.state, RunState::kPlanned);
    EXPECT_EQ(run.planned.position, static_cast<int32_t>(i) + 1);
    EXPECT_EQ(run.planned.configuration, wanted.configuration);
    EXPECT_EQ(run.planned.workload, wanted.workload);
    EXPECT_EQ(run.planned.command, wanted.command);
    EXPECT_EQ(run.planned.folder, wanted.folder);
  }
  EXPECT_EQ(sweep.plan_hash, "first");
  EXPECT_EQ(sweep.margin, 0.05);
}

TEST_F(StoreTest, AnEndedRunHasItsFiguresMachineAndFacts) {
  Store store = created(small_plan());
  RunRow run = store.runs()->at(4);
  run.started_realtime_ns = 5;
  const ProcessMark process = own_mark();
  ASSERT_TRUE(store.set_running(run, {process, process}));
  EXPECT_EQ(read().runs[4].state, RunState::kRunning);
  EXPECT_EQ(read().runs[4].pid, ::getpid());
  ASSERT_EQ(store.running()->size(), 1u);
  EXPECT_TRUE(is_alive(store.running()->front().processes.process));
  run.state = RunState::kFailed;
  run.exit_status = 3;
  run.failure = "exit status 3";
  run.interrupted = true;
  run.figures = {{"wall_s", 1.5}, {"io_s", 0.25}};
  run.machine = {{"steal_share", 0.125}};
  run.facts = {{"governor", "powersave"}};
  ASSERT_TRUE(store.set_ended(run));
  const RunRow back = read().runs[4];
  EXPECT_EQ(back.state, RunState::kFailed);
  EXPECT_EQ(back.exit_status, 3);
  EXPECT_EQ(back.failure, run.failure);
  EXPECT_TRUE(back.interrupted);
  EXPECT_EQ(back.figures, run.figures);
  EXPECT_EQ(back.machine, run.machine);
  EXPECT_EQ(back.facts, run.facts);
  EXPECT_TRUE(store.running()->empty());
}

TEST_F(StoreTest, TheNextAttemptOfARunTakesTheNameOfItsFolder) {
  Store store = created(small_plan());
  RunRow run = store.runs()->at(2);
  run.state = RunState::kFailed;
  ASSERT_TRUE(store.set_ended(run));
  const auto next = store.add_attempt(run);
  ASSERT_TRUE(next) << next.error().text;
  const auto runs = *store.runs();
  ASSERT_EQ(runs.size(), 13u);
  EXPECT_EQ(runs[2].planned.folder, run.planned.folder + ".failed-1");
  EXPECT_EQ(runs[3].id, next->id);
  EXPECT_EQ(runs[3].attempt, 2);
  EXPECT_EQ(runs[3].state, RunState::kPlanned);
  EXPECT_EQ(runs[3].planned.folder, run.planned.folder);
  EXPECT_EQ(runs[3].planned.position, run.planned.position);
}

TEST_F(StoreTest, ALongerPlanAddsRunsBehindAllOthers) {
  Plan plan = small_plan();
  Store store = created(plan);
  const auto before = *store.runs();
  plan.hash = "second";
  plan.repetitions = 4;
  plan.configurations.emplace_back().name = "dry.4";  // its folders meet another's names
  plan.workloads.push_back({"cat a", "cat a", {}});
  plan.workloads.back().key = "cat c";
  ASSERT_TRUE(store.extend(plan, runs_of(plan)));
  const auto runs = *store.runs();
  ASSERT_EQ(runs.size(), 4u * 3 * 3);
  std::set<std::string> folders;
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].planned.position, static_cast<int32_t>(i) + 1);
    EXPECT_TRUE(folders.insert(runs[i].planned.folder).second) << runs[i].planned.folder;
    EXPECT_TRUE(i >= before.size() || runs[i].id == before[i].id);
  }
  EXPECT_EQ(store.plan().hash, "second");
  ASSERT_TRUE(store.add_runs(runs_of(plan)));
  EXPECT_EQ(store.runs()->size(), runs.size());
}

TEST_F(StoreTest, AFolderHoldsOneSweep) {
  Plan plan = small_plan();
  {
    const Store store = created(plan);
    const auto second = Store::open(folder_);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().text.find("another sweep is running"), std::string::npos) << second.error().text;
  }
  const auto again = Store::create(folder_, plan, runs_of(plan));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().text.find("holds a sweep already"), std::string::npos) << again.error().text;
  EXPECT_TRUE(Store::open(folder_));
}

TEST_F(StoreTest, AFolderWithOtherFilesIsLeftUnchanged) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ + "/notes") << "mine";
  EXPECT_FALSE(Store::create(folder_, small_plan(), {}));
  EXPECT_FALSE(Store::open(folder_));
  EXPECT_FALSE(read_sweep(folder_));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(StoreTest, FilesOfASweepKilledWhileItWasCreatedAreReplaced) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ + "/sweep.lock") << "1 2 another-boot";
  std::ofstream(folder_ + "/sweep.sqlite.new") << "half";
  EXPECT_TRUE(Store::create(folder_, small_plan(), runs_of(small_plan())));
  EXPECT_EQ(read().runs.size(), 12u);
}

// As on a full disk: a child process may write no file beyond a size.
TEST_F(StoreTest, AWriteThatFailsChangesNothing) {
  Store store = created(small_plan());
  RunRow run = store.runs()->at(0);
  run.state = RunState::kDone;
  for (int i = 0; i < 5000; ++i) run.facts["name " + std::to_string(i)] = std::string(100, 'x');
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 << 10, 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Status stored = store.set_ended(run);
    const bool says_what_to_do = !stored && stored.error().text.find("--resume") != std::string::npos;
    ::_exit(says_what_to_do ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read().runs[0].state, RunState::kPlanned);
  EXPECT_TRUE(read().runs[0].facts.empty());
}

TEST_F(StoreTest, TenThousandRunsAreReadCompletely) {
  Plan plan = small_plan();
  plan.repetitions = 2500;
  const Store store = created(plan);
  {
    SQLite::Database database(folder_ + "/sweep.sqlite", SQLite::OPEN_READWRITE);
    const std::string twenty =
        "(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 20) SELECT i FROM n)";
    database.exec("UPDATE run SET state = 'done'; INSERT INTO figure SELECT id, 'figure_' || i, i FROM run, " + twenty);
    database.exec("INSERT INTO machine SELECT id, 'machine_' || i, i FROM run, " + twenty);
  }
  const uint64_t begin_ns = util::monotonic_ns();
  const Sweep sweep = read();
  RecordProperty("read_ms", static_cast<int>((util::monotonic_ns() - begin_ns) / 1'000'000));
  EXPECT_EQ(sweep.runs.size(), 10'000u);
  EXPECT_EQ(sweep.runs[9999].machine.at("machine_19"), 19);
  EXPECT_EQ(sweep.runs[0].figures.size(), 20u);
}

}  // namespace
}  // namespace mlrun::sweep
