// SPDX-License-Identifier: Apache-2.0
// Tests mlrun as a program, with the real library: its effects on the command, and its records. The merge is deferred.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/collect/recovery.h"
#include "runner/events/call_layout.h"
#include "runner/events/record.h"
#include "runner/model/run.h"
#include "runner/session/session_file.h"
#include "tests/runner/collect/running_program.h"
#include "tests/runner/collect/session.h"

namespace mlrun::testing {
namespace {

using collect::testing::Folder;
using collect::testing::SpoolFrames;
using Words = std::vector<std::string>;

constexpr int kPread = 2;  // hooks.def

// mlrun, recording into FOLDER/trace.
class Program : public ::testing::Test {
 protected:
  Words traced(const Words& command, const Words& options = {}) const {
    Words words = {MLRUN_PROGRAM, "--defer-merge", "-o", trace_};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  Words reads(int count, int pause_us) const {
    return {MLRUN_VICTIMS "/numbered_reads", std::to_string(count), std::to_string(pause_us)};
  }
  nlohmann::json session() const { return session::SessionFile::read(trace_)->data; }
  SpoolFrames spool() const { return collect::testing::read_spool(collect::spool_path(trace_)); }

  // Offsets of the pread calls, sorted.
  std::vector<uint64_t> offsets() const {
    std::vector<uint64_t> found;
    for (const auto& frame : spool().of_type(MLRUN_FRAME_DATA)) {
      for (size_t at = 0; at + 64 <= frame.payload.size();) {
        uint64_t words[8];
        std::memcpy(words, frame.payload.data() + at, sizeof words);
        const size_t units = words[0] >> 8 & 0xff;
        if (units == 0) break;
        if ((words[0] >> 16 & 0xffff) == MLRUN_CALL + kPread) found.push_back(words[5]);
        at += units * MLRUN_UNIT_BYTES;
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  Folder folder_;
  std::string trace_ = folder_.path + "/trace";
};

using collect::testing::count_up;

TEST_F(Program, GivesTheCommandsExitStatus) {
  EXPECT_EQ(run(traced({"sh", "-c", "exit 3"})).exit_status(), 3);
  EXPECT_EQ(session()["exit_status"], 3);
}

TEST_F(Program, Gives128AndTheSignalsNumber) {
  EXPECT_EQ(run(traced({"sh", "-c", "kill -KILL $$"})).exit_status(), 137);
  EXPECT_EQ(session()["signal"], SIGKILL);
}

TEST_F(Program, LeavesNothingBehindWhenTheCommandCannotBeStarted) {
  EXPECT_EQ(run(traced({"no-such-command-at-all"})).exit_status(), 127);
  EXPECT_FALSE(std::filesystem::exists(trace_));
  EXPECT_EQ(run(traced({folder_.path + "/no/such/file"})).exit_status(), 127);
  std::ofstream(folder_.path + "/text") << "x";
  EXPECT_EQ(run(traced({folder_.path + "/text"})).exit_status(), 126);
  EXPECT_EQ(run(traced({folder_.path})).exit_status(), 126);
  EXPECT_FALSE(std::filesystem::exists(trace_));
  EXPECT_EQ(run({MLRUN_PROGRAM, "--nonsense", "true"}).exit_status(), 125);
}

TEST_F(Program, RunsAScriptWithoutAnInterpreterLine) {
  std::ofstream(folder_.path + "/script") << "echo from a script\n";
  ::chmod((folder_.path + "/script").c_str(), 0755);
  EXPECT_EQ(run(traced({folder_.path + "/script"})).out, "from a script\n");
}

TEST_F(Program, LeavesOutputUnchangedAndPrintsOnStderrOnly) {
  const Ended ended = run(traced({"sh", "-c", "echo out; echo err >&2"}));
  EXPECT_EQ(ended.out, "out\n");
  EXPECT_EQ(ended.err.substr(0, 4), "err\n");
  EXPECT_NE(ended.err.find("mlrun recover " + trace_), std::string::npos);
}

TEST_F(Program, GivesTheCommandNoDescriptorOfItsOwn) {
  const Ended plain = run({"ls", "/proc/self/fd"});
  EXPECT_EQ(run(traced({"ls", "/proc/self/fd"})).out, plain.out);
}

TEST_F(Program, NeverOverwritesATrace) {
  EXPECT_EQ(run(traced({"true"})).exit_status(), 0);
  const auto before = spool().frames.size();
  const Ended second = run(traced({"true"}));
  EXPECT_EQ(second.exit_status(), 125);
  EXPECT_NE(second.err.find("never overwrites"), std::string::npos);
  EXPECT_EQ(spool().frames.size(), before);
}

TEST_F(Program, RecordsEveryCallOnce) {
  EXPECT_EQ(run(traced(reads(20000, 0))).exit_status(), 0);
  EXPECT_EQ(offsets(), count_up(0, 20000));
  EXPECT_GT(session()["collector"]["records"], 20000);
}

TEST_F(Program, PassesOnASignalThatIsSentToItAlone) {
  RunningProgram program(
      traced({"sh", "-c", "trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 0.02; done"}));
  ASSERT_TRUE(program.wait_for("ready"));
  ::kill(program.pid(), SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.exit_status(), 5);
  EXPECT_EQ(ended.out, "ready\ngot it\n");
}

TEST_F(Program, KeepsIgnoredSignalsIgnoredAndOthersDefault) {
  Words command = traced({"grep", "-E", "Sig(Ign|Blk|Cgt)", "/proc/self/status"});
  const std::string plain =
      run({"sh", "-c", "trap '' HUP USR1; exec grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status"}).out;
  Words through_shell = {"sh", "-c", "trap '' HUP USR1; exec \"$@\"", "sh"};
  through_shell.insert(through_shell.end(), command.begin(), command.end());
  EXPECT_EQ(run(through_shell).out, plain);
}

TEST_F(Program, KeepsTheCommandsFileSizeLimit) {
  Words command = {"sh", "-c", "ulimit -S -f 8; exec \"$@\"", "sh"};
  for (const std::string& word :
       traced({"sh", "-c", "ulimit -f; exec head -c 100000 /dev/zero >" + folder_.path + "/big"})) {
    command.push_back(word);
  }
  const Ended ended = run(command);
  EXPECT_EQ(ended.out, "8\n");
  EXPECT_EQ(ended.exit_status(), 128 + SIGXFSZ);
  EXPECT_EQ(spool().error, "");
}

// Only the privileged may raise a hard limit. The command runs in any case, and as it would alone.
TEST_F(Program, RunsTheCommandUntracedWhereThereCanBeNoArena) {
  Words command = {"sh", "-c", "ulimit -f 8; exec \"$@\"", "sh"};
  for (const std::string& word : traced({"sh", "-c", "ulimit -f; exit 4"})) command.push_back(word);
  const Ended ended = run(command);
  EXPECT_EQ(ended.out, "8\n");
  EXPECT_EQ(ended.exit_status(), 4);
  const bool recorded = std::filesystem::exists(trace_);
  EXPECT_EQ(recorded, ended.err.find("without recording") == std::string::npos);
  if (recorded) return;
  command.insert(command.begin() + 5, "--preload=require");
  EXPECT_EQ(run(command).exit_status(), 125);
}

TEST_F(Program, NamesProcessesThatOutliveTheCommandAndEndsTheirRecording) {
  Words command = {"sh", "-c", MLRUN_VICTIMS "/numbered_reads 100000 1000 >/dev/null 2>&1 & sleep 0.2; echo $!"};
  const Ended ended = run(traced(command));
  EXPECT_EQ(ended.exit_status(), 0);
  ::kill(std::stoi(ended.out), SIGKILL);
  EXPECT_EQ(spool().gaps(MLRUN_GAP_CUT_OFF).size(), 1u);
  EXPECT_GT(session()["wall_ns"], 150'000'000);
  EXPECT_GT(offsets().size(), 500u);
  EXPECT_EQ(offsets(), count_up(0, offsets().size()));
}

TEST_F(Program, WaitsForAllWhenAsked) {
  Words command = {"sh", "-c", MLRUN_VICTIMS "/numbered_reads 3000 1000 >/dev/null 2>&1 &"};
  EXPECT_EQ(run(traced(command, {"--wait-all"})).exit_status(), 0);
  EXPECT_TRUE(spool().gaps(MLRUN_GAP_CUT_OFF).empty());
  EXPECT_EQ(offsets(), count_up(0, 3000));
}

TEST_F(Program, WaitsForAChildThatHasNotRecordedYet) {
  for (int i = 0; i < 5; i++) {
    std::filesystem::remove_all(trace_);
    EXPECT_EQ(run(traced({"sh", "-c", "(sleep 0.3; exec " MLRUN_VICTIMS "/numbered_reads 100 0 >/dev/null 2>&1) &"}))
                  .exit_status(),
              0);
    EXPECT_EQ(offsets(), count_up(0, 100));
  }
}

TEST_F(Program, PauseAndResumeLeaveOutTheMiddle) {
  RunningProgram program(traced(reads(1500, 1000)));
  ::usleep(400'000);
  EXPECT_EQ(run({MLRUN_PROGRAM, "pause", trace_}).exit_status(), 0);
  ::usleep(500'000);
  EXPECT_EQ(run({MLRUN_PROGRAM, "resume", trace_}).exit_status(), 0);
  EXPECT_EQ(program.wait().exit_status(), 0);
  const auto gaps = spool().gaps(MLRUN_GAP_PAUSED);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_GT(gaps[0].last_monotonic_ns - gaps[0].first_monotonic_ns, 400'000'000u);
  const auto found = offsets();
  EXPECT_EQ(found.front(), 0u);
  EXPECT_EQ(found.back(), 1499u);
  EXPECT_LT(found.size(), 1400u);
  EXPECT_EQ(run({MLRUN_PROGRAM, "pause", trace_}).exit_status(), 125);  // it is over
}

TEST_F(Program, AStaticProgramUnderRequireIsAnError) {
  EXPECT_EQ(run(traced({MLRUN_VICTIMS "/static_true"})).exit_status(), 0);
  std::filesystem::remove_all(trace_);
  const Ended ended = run(traced({MLRUN_VICTIMS "/static_true"}, {"--preload=require"}));
  EXPECT_EQ(ended.exit_status(), 125);
  EXPECT_NE(ended.err.find("recorded nothing"), std::string::npos);
}

TEST_F(Program, PutsItsArenaIntoTheTraceFolderWhenAskedForMoreThanSharedMemoryHas) {
  EXPECT_EQ(run(traced(reads(2000, 0), {"--buffer", "4G"})).exit_status(), 0);
  EXPECT_EQ(session()["arena"]["medium"], "file");
  EXPECT_EQ(offsets(), count_up(0, 2000));
  EXPECT_FALSE(std::filesystem::exists(trace_ + "/arena.bin"));
}

TEST_F(Program, AFolderNameWithACommaIsFine) {
  trace_ = folder_.path + "/a,b";
  EXPECT_EQ(run(traced(reads(100, 0))).exit_status(), 0);
  EXPECT_EQ(offsets(), count_up(0, 100));
}

// Ctrl-C goes to the command once, by the terminal; mlrun stays and finishes.
TEST_F(Program, CtrlCReachesTheCommandOnce) {
  RunningProgram program(
      traced(
          {"bash", "-c", "n=0; trap 'n=$((n+1))' INT; echo ready; for i in $(seq 40); do sleep 0.02; done; echo n=$n"}),
      true);
  ASSERT_TRUE(program.wait_for("ready"));
  program.type("\x03");
  const Ended ended = program.wait();
  EXPECT_NE(ended.out.find("n=1"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.exit_status(), 0);
  EXPECT_EQ(session()["state"], "collected");
}

TEST_F(Program, CtrlCBehindTheCommandLeavesTheMergeToRecover) {
  Words words = {MLRUN_PROGRAM, "-o", trace_, "sh", "-c", "(trap '' INT HUP; exec sleep 1.5) & sleep 0.2; echo over"};
  RunningProgram program(words, true);
  ASSERT_TRUE(program.wait_for("over"));
  ::usleep(200'000);  // the shell has ended, its child has not
  program.type("\x03");
  const Ended ended = program.wait();
  EXPECT_EQ(ended.exit_status(), 0);
  EXPECT_NE(ended.out.find("mlrun recover " + trace_), std::string::npos) << ended.out;
  EXPECT_EQ(session()["state"], "collected");
  EXPECT_LT(session()["clock"]["end"]["monotonic_ns"].get<uint64_t>() - session()["end_ns"].get<uint64_t>(),
            1'000'000'000u);
}

TEST_F(Program, ReportsThatTheSpoolReachedItsLimit) {
  const Ended ended = run(traced(reads(300'000, 0), {"--max-spool", "4M"}));
  EXPECT_EQ(ended.exit_status(), 0);
  EXPECT_NE(ended.err.find("--max-spool"), std::string::npos) << ended.err;
  EXPECT_LE(std::filesystem::file_size(collect::spool_path(trace_)), 5u << 20);
  EXPECT_EQ(spool().gaps(MLRUN_GAP_SPOOL_FULL).size(), 1u);
}

TEST_F(Program, CtrlZStopsTheCommandAndFgResumesIt) {
  RunningProgram shell({"bash", "--norc", "--noprofile", "-i"}, true);
  std::string line;
  for (const std::string& word : traced(reads(400, 2000))) line += word + " ";
  shell.type("PS1=; " + line + "\n");
  ::usleep(300'000);
  shell.type("\x1a");
  ASSERT_TRUE(shell.wait_for("Stopped"));
  shell.type("fg >/dev/null; echo status=$?; exit\n");
  ASSERT_TRUE(shell.wait_for("status=0"));
  shell.wait();
  EXPECT_EQ(offsets(), count_up(0, 400));
}

TEST_F(Program, ACommandThatReadsTheTerminalGetsWhatIsTyped) {
  RunningProgram program(traced({"sh", "-c", "echo ready; read line; echo \"<$line>\""}), true);
  ASSERT_TRUE(program.wait_for("ready"));
  program.type("hello\n");
  EXPECT_TRUE(program.wait_for("<hello>"));
  EXPECT_EQ(program.wait().exit_status(), 0);
}

TEST_F(Program, KilledAtAnyTimeTheWorkloadContinuesAndNothingIsLostOrTwice) {
  std::mt19937 random(7);
  for (int round = 0; round < 8; round++) {
    std::filesystem::remove_all(trace_);
    Words workload = {"sh", "-c", "echo begun; exec \"$0\" \"$@\""};
    for (const std::string& word : reads(3000, 20)) workload.push_back(word);
    RunningProgram program(traced(workload, {"--buffer", "64M"}));
    ASSERT_TRUE(program.wait_for("begun"));  // before that there is nothing that could live on
    ::usleep(random() % 100'000);
    ::kill(program.pid(), SIGKILL);
    ASSERT_TRUE(program.wait_for("done"));
    const auto session = session::SessionFile::read(trace_);
    ASSERT_TRUE(session);
    EXPECT_FALSE(session->leader_lives());
    ::usleep(20'000);  // until the workload has ended
    const mlrun::model::Run session_run = mlrun::model::run_of(session->data);
    auto recovery = collect::Recovery::open({trace_, session_run.arena.path, session_run.session});
    ASSERT_TRUE(recovery) << recovery.error().text;
    ASSERT_TRUE((*recovery)->complete());
    EXPECT_EQ(spool().error, "");
    EXPECT_EQ(offsets(), count_up(0, 3000)) << "round " << round;
  }
}

TEST_F(Program, RecoverRefusesWhileMlrunLives) {
  RunningProgram program(traced(reads(500, 2000)));
  ::usleep(200'000);
  const Ended refused = run({MLRUN_PROGRAM, "recover", trace_});
  EXPECT_EQ(refused.exit_status(), 125);
  EXPECT_NE(refused.err.find("still records or merges"), std::string::npos);
  EXPECT_EQ(program.wait().exit_status(), 0);
  EXPECT_EQ(offsets(), count_up(0, 500));
}

}  // namespace
}  // namespace mlrun::testing
