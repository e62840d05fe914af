// SPDX-License-Identifier: Apache-2.0
// Tests the environment of a new image, and its records.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "preload/core/call_kind.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

namespace fs = std::filesystem;

// What was recorded of executions: the words of their records, and all strings.
struct Executions {
  struct Call {
    uint32_t kind;
    uint64_t target;
    int64_t result;
    uint64_t path;
  };
  std::vector<Call> calls;
  std::map<uint64_t, std::string> strings;
  Totals totals;

  explicit Executions(const std::vector<std::string>& command, RunOptions options = {}) {
    options.on_record = [this](const RecordView& r) {
      if (r.kind() == KIND_execve || r.kind() == KIND_posix_spawn)
        calls.push_back({r.kind(), r.words[3], r.result(), r.words[7]});
      if (r.kind() == MLRUN_STRING) strings[r.words[1]] = fragment_text(r);
    };
    totals = run_traced(command, options);
  }
  [[nodiscard]] std::string path(size_t i) const { return strings.at(calls.at(i).path); }
};

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line) != std::string::npos;
}

class EveryExec : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] std::string how() const { return GetParam(); }
  [[nodiscard]] bool by_name() const {
    return how() == "execvp" || how() == "execvpe" || how() == "execlp" || how() == "posix_spawnp";
  }
  [[nodiscard]] std::string program() const { return by_name() ? "env" : "/usr/bin/env"; }
};

TEST_P(EveryExec, KeepsAProgramTracedThatDropsItsEnvironment) {
  const Executions e({victim("executes"), how(), "emptied", program()});
  EXPECT_EQ(e.totals.exit_code(), 0) << e.totals.output;
  EXPECT_TRUE(has_line(e.totals.output, "X=1\n"));
  EXPECT_TRUE(has_line(e.totals.output, "LD_PRELOAD=" + preload_library() + "\n")) << e.totals.output;
  EXPECT_TRUE(has_line(e.totals.output, "MLRUN_SESSION=/dev/shm/")) << e.totals.output;
  EXPECT_EQ(e.totals.of(MLRUN_PROCESS), 2);
}

TEST_P(EveryExec, IsRecordedOfAVforkChildByItsParent) {
  const Executions e({victim("executes"), how(), "kept", program()});
  ASSERT_EQ(e.calls.size(), 1);
  const bool spawned = how().find("posix_spawn") == 0, with_child = spawned || how() == "vfork";
  EXPECT_EQ(e.calls[0].kind, spawned ? KIND_posix_spawn : KIND_execve);
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_TRACED);
  EXPECT_TRUE(with_child ? e.calls[0].result > 1 : e.calls[0].result == 0) << e.calls[0].result;
  if (by_name()) {  // where PATH has it
    EXPECT_TRUE(e.path(0).starts_with('/') && e.path(0).ends_with("/env")) << e.path(0);
  } else {
    EXPECT_EQ(e.path(0), how() == "fexecve" ? "" : program());
  }
}

TEST_P(EveryExec, ThatFailsHasItsErrorInTheRecordAndInErrno) {
  const std::string missing = by_name() ? "no-such-program" : "/no/such/program";
  const int error = how() == "fexecve" ? EINVAL : ENOENT;  // its descriptor is -1
  const Executions e({victim("executes"), how(), "kept", missing});
  const bool spawned = how().find("posix_spawn") == 0;
  EXPECT_EQ(e.totals.exit_code(), spawned ? 126 : error);
  ASSERT_EQ(e.calls.size(), how() == "vfork" ? 0 : 1);
  if (e.calls.empty()) return;
  EXPECT_EQ(e.calls[0].result, -error);
  EXPECT_EQ(e.path(0), how() == "fexecve" ? "" : missing);
}

INSTANTIATE_TEST_SUITE_P(, EveryExec,
                         testing::Values("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve",
                                         "execveat", "posix_spawn", "posix_spawnp", "vfork"),
                         [](const auto& info) { return std::string(info.param); });

TEST(BadPointers, FailAsUntraced) {
  const Executions e({victim("bad_exec")});
  EXPECT_EQ(e.totals.number("wrong"), 0);
  EXPECT_EQ(e.totals.exit_code(), 0);
  EXPECT_TRUE(has_line(e.totals.output, "MLRUN_SESSION="))
      << e.totals.output;  // an environment of null is an empty one
}

class Folder : public testing::Test {
 protected:
  Folder() { fs::create_directories(path_); }
  ~Folder() override { fs::remove_all(path_); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }

  const fs::path path_ = testing::TempDir() + "exec_test_" + std::to_string(getpid());
};

using PreloadList = Folder;

TEST_F(PreloadList, KeepsOthersBehindOurs) {
  const std::string other = *this / "libother.so";
  fs::create_symlink("/lib/x86_64-linux-gnu/libm.so.6", other);
  const Executions e({"env", "LD_PRELOAD=" + other, victim("executes"), "execve", "kept", "/usr/bin/env"});
  EXPECT_TRUE(has_line(e.totals.output, "LD_PRELOAD=" + preload_library() + ":" + other + "\n")) << e.totals.output;
}

TEST_F(PreloadList, StaysBehindALibasanWhichInsistsOnBeingFirst) {
  const std::string asan = *this / "libasan.so.8", other = *this / "libother.so";
  fs::create_symlink("/lib/x86_64-linux-gnu/libm.so.6", asan);
  fs::create_symlink("/lib/x86_64-linux-gnu/libm.so.6", other);
  const Executions e({"env", "LD_PRELOAD=" + asan + " " + other, victim("executes"), "execve", "kept", "/usr/bin/env"});
  const std::string list = "LD_PRELOAD=" + asan + ":" + preload_library() + ":" + other + "\n";
  EXPECT_TRUE(has_line(e.totals.output, list)) << e.totals.output;
}

TEST_F(PreloadList, OfAnotherSessionIsLeftAlone) {
  const Executions e({"env", "MLRUN_SESSION=/other,1,/o", "LD_PRELOAD=", "/usr/bin/env"});
  EXPECT_TRUE(has_line(e.totals.output, "MLRUN_SESSION=/other,1,/o\n"));
  EXPECT_TRUE(has_line(e.totals.output, "LD_PRELOAD=\n")) << e.totals.output;
}

class Sanitized : public testing::TestWithParam<const char*> {};

// The runtime of a sanitizer must be the first library of all: it is lent to the program in LD_PRELOAD, and not to those that
// the program executes.
TEST_P(Sanitized, ProgramFindsItsRuntimeBeforeUs) {
  const std::string program = victim(std::string("executes_") + GetParam());
  const Executions e({"env", program, "execve", "kept", "/usr/bin/env"});
  EXPECT_EQ(e.totals.exit_code(), 0) << e.totals.output;
  EXPECT_TRUE(has_line(e.totals.output, "LD_PRELOAD=" + preload_library() + "\n")) << e.totals.output;
  EXPECT_EQ(e.totals.of(MLRUN_PROCESS), 3);
}

INSTANTIATE_TEST_SUITE_P(, Sanitized, testing::Values("address", "thread"));

using Target = Folder;

TEST_F(Target, WithoutADynamicLinkerIsReportedAsStatic) {
  const Executions e({victim("executes"), "execv", "kept", victim("static_calls"), "10", "_exit"});
  ASSERT_EQ(e.calls.size(), 1);
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_STATIC);
  EXPECT_EQ(e.totals.exit_code(), 0);
}

TEST_F(Target, ThatIsAScriptIsJudgedByItsInterpreter) {
  const std::string script = *this / "script", nested = *this / "nested";
  std::ofstream(script) << "#! " << victim("static_calls") << " 10\n";
  std::ofstream(nested) << "#!" << script << "\n";
  fs::permissions(script, fs::perms::owner_all);
  fs::permissions(nested, fs::perms::owner_all);
  const Executions e({victim("executes"), "execv", "kept", nested});
  ASSERT_GE(e.calls.size(), 1);
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_STATIC);
}

// ld.so ignores the library there.
TEST_F(Target, ThatIsSetuidIsReported) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string program = *this / "raised";
  fs::copy_file("/bin/true", program);
  ASSERT_EQ(chown(program.c_str(), 65534, 65534), 0);
  fs::permissions(program, fs::perms::set_uid | fs::perms::all);
  const Executions e({victim("executes"), "execv", "kept", program});
  ASSERT_EQ(e.calls.size(), 1);
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_RAISED);
}

TEST_F(Target, WithAnEnvironmentTooLargeToBeChangedIsReportedAsUntraced) {
  const Executions e({victim("executes"), "execve", "many", "/usr/bin/true"});
  EXPECT_EQ(e.totals.exit_code(), 0);
  ASSERT_EQ(e.calls.size(), 1);
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_TOO_LARGE);
  EXPECT_EQ(e.totals.of(MLRUN_PROCESS), 1);
}

TEST_F(Target, OfAnotherSessionIsNested) {
  const Executions e({"env", "MLRUN_SESSION=/other,1,/o", "/usr/bin/true"});
  ASSERT_EQ(e.calls.size(), 1);
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_NESTED);
}

TEST_F(Target, OfAnotherProcessorIsForeign) {
  const std::string program = *this / "foreign";
  fs::copy_file("/bin/true", program);
  std::fstream file(program, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(18).put(static_cast<char>(243)).put(0);  // e_machine: RISC-V
  file.close();
  const Executions e({victim("executes"), "execv", "kept", program});
  EXPECT_EQ(e.totals.exit_code(), ENOEXEC);
  ASSERT_EQ(e.calls.size(), 2);  // announced, and failed
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_FOREIGN);
  EXPECT_EQ(e.calls[0].result, 0);
  EXPECT_EQ(e.calls[1].result, -ENOEXEC);
}

// Its dynamic linker need not be there.
TEST_F(Target, OfAnotherLibcIsReported) {
  constexpr char kGlibcs[] = "/lib64/ld-linux-x86-64.so.2", kMusls[sizeof kGlibcs] = "/lib/ld-musl-x86_64.so.1";
  const std::string program = *this / "of_musl";
  std::ifstream source("/bin/true", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(source), {}};
  const size_t at = bytes.find(kGlibcs);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, sizeof kMusls, kMusls, sizeof kMusls);
  std::ofstream(program, std::ios::binary) << bytes;
  fs::permissions(program, fs::perms::owner_all);
  const Executions e({victim("executes"), "execv", "kept", program});
  ASSERT_FALSE(e.calls.empty());
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_OTHER_LIBC);
}

TEST_F(Target, Of32BitsIsReported) {
  const std::string program = *this / "of_32_bits";
  fs::copy_file("/bin/true", program);
  std::fstream file(program, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4).put(1);          // ELFCLASS32
  file.seekp(18).put(3).put(0);  // EM_386
  file.close();
  const Executions e({victim("executes"), "execv", "kept", program});
  ASSERT_FALSE(e.calls.empty());
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_32_BIT);
}

// ld.so would complain on stderr about a library that it cannot find.
TEST_F(Target, WhereTheLibraryIsNotVisibleRunsWithoutItAndWithoutAMessage) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  for (const std::string file : {"/usr/bin/env", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"}) {
    fs::create_directories(fs::path(*this / file.substr(1)).parent_path());
    fs::copy_file(file, *this / file.substr(1));
  }
  const Executions e({"chroot", path_, "/usr/bin/env"});
  EXPECT_EQ(e.totals.exit_code(), 0) << e.totals.output;
  EXPECT_EQ(e.totals.output.find("ld.so"), std::string::npos) << e.totals.output;
  EXPECT_FALSE(has_line(e.totals.output, "LD_PRELOAD")) << e.totals.output;
  ASSERT_EQ(e.calls.size(), 1);
  EXPECT_EQ(e.calls[0].target, MLRUN_EXEC_UNREACHABLE);
}

}  // namespace
}  // namespace mlrun::preload_test
