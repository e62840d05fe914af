// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/collect/arena_layout.h"
#include "runner/collect/arena_place.h"
#include "runner/util/clock.h"
#include "runner/util/crc32c.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/json_value.h"
#include "runner/util/proc_files.h"
#include "runner/util/similar.h"
#include "runner/util/text.h"
#include "runner/util/wrap.h"

namespace mlrun::util {
namespace {

TEST(JsonValue, CopiesAsAValueDoes) {
  JsonValue first;
  EXPECT_TRUE(first->is_object());
  (*first)["a"] = 1;
  JsonValue second = first;
  (*second)["a"] = 2;
  EXPECT_EQ((*first)["a"], 1);
  first = second;
  (*second)["a"] = 3;
  EXPECT_EQ((*first)["a"], 2);
  JsonValue& same = first;
  first = same;
  EXPECT_EQ((*first)["a"], 2);
  const JsonValue third = std::move(first);
  EXPECT_EQ(third->at("a"), 2);
  EXPECT_TRUE(first->is_null());
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(json_text(nlohmann::json{{"b", 1}, {"a", "\xff"}}), "{\"a\":\"\xef\xbf\xbd\",\"b\":1}");
  EXPECT_EQ(json_text(nlohmann::ordered_json{{"b", 1}, {"a", 2}}, 1), "{\n \"b\": 1,\n \"a\": 2\n}");
}

TEST(Crc32c, IsTheOneOfTheStandard) {
  EXPECT_EQ(crc32c(0, "123456789", 9), 0xe3069283u);
  EXPECT_EQ(crc32c_by_table(0, "123456789", 9), 0xe3069283u);
  const std::string zeros(32, '\0');
  EXPECT_EQ(crc32c(0, zeros.data(), zeros.size()), 0x8a9136aau);  // RFC 3720, B.4
}

TEST(Crc32c, InstructionTableAndPiecesAgreeAtAllLengths) {
  std::mt19937_64 random(1);
  std::string text(20000, '\0');
  for (char& c : text) c = static_cast<char>(random());
  for (size_t bytes = 0; bytes < text.size(); bytes += 1 + bytes / 7) {
    const uint32_t whole = crc32c(0, text.data() + 3, bytes);
    ASSERT_EQ(whole, crc32c_by_table(0, text.data() + 3, bytes)) << bytes;
    const size_t cut = bytes / 3;
    ASSERT_EQ(whole, crc32c(crc32c(0, text.data() + 3, cut), text.data() + 3 + cut, bytes - cut)) << bytes;
  }
}

TEST(Text, BytesThatAreNoUtf8AreEscapedAndNothingElse) {
  EXPECT_EQ(escaped_utf8("/data/größe 3\n"), "/data/größe 3\n");
  EXPECT_EQ(escaped_utf8("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(escaped_utf8("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(escaped_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(escaped_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(escaped_utf8("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(escaped_utf8("\\xff \\n"), "\\x5cxff \\n");
  for (const char* bytes : {"", "/data/größe", "a\xff\xc3", "\\xff \\n", "\\x", "\\\\x5c", "\xf0\x9f\x98\x80\xf0"})
    EXPECT_EQ(unescaped_utf8(escaped_utf8(bytes)), bytes);
  EXPECT_EQ(unescaped_utf8("\\xg1\\x1"), "\\xg1\\x1") << "another program wrote this";
}

TEST(Text, BlanksAtBothEndsAreTrimmed) {
  EXPECT_EQ(trimmed("\t a b \r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, FieldsOfFixedSizeEndAtTheFirstZero) {
  EXPECT_EQ(field_text("ab\0cd"), "ab");
  const char full[] = {'a', '\xff'};
  EXPECT_EQ(field_text(full), "a\\xff");
}

TEST(Text, WordsForAShellAndForExec) {
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("it's $x"), R"('it'\''s $x')");
  const std::vector<std::string> texts = {"program", ""};
  const std::vector<char*> pointers = exec_pointers(texts);
  ASSERT_EQ(pointers.size(), 3u);
  EXPECT_EQ(pointers[0], texts[0].c_str());
  EXPECT_STREQ(pointers[1], "");
  EXPECT_EQ(pointers[2], nullptr);
}

TEST(Text, Sizes) {
  EXPECT_EQ(*parse_size("0"), 0u);
  EXPECT_EQ(*parse_size("12k"), 12u << 10);
  EXPECT_EQ(*parse_size("256M"), 256u << 20);
  EXPECT_EQ(*parse_size("3GiB"), 3ull << 30);
  EXPECT_EQ(*parse_size("7B"), 7u);
  EXPECT_EQ(*parse_size("1.5G"), 3ull << 29);
  EXPECT_EQ(*parse_size("0.25K"), 256u);
  for (const char* bad : {"", "M", "1.5", "1.5B", "1.G", ".5G", "1.5.5G", "1e3", "1 M", "1Mi", "iB", "1KBB",
                          "18446744073709551616", "18446744073709551615.5K", "99999999999G"}) {
    EXPECT_FALSE(parse_size(bad)) << bad;
  }
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1.00 KiB");
  EXPECT_EQ(size_text(4 << 20), "4.00 MiB");
  EXPECT_EQ(size_text(123ull << 30), "123 GiB");
}

TEST(Text, Times) {
  EXPECT_EQ(*parse_time("250ns"), 250u);
  EXPECT_EQ(*parse_time("10us"), 10'000u);
  EXPECT_EQ(*parse_time("7ms"), 7'000'000u);
  EXPECT_EQ(*parse_time("90s"), 90'000'000'000u);
  EXPECT_EQ(*parse_time("2.5s"), 2'500'000'000u);
  EXPECT_EQ(*parse_time("0.1us"), 100u);
  EXPECT_EQ(*parse_seconds("2.5"), 2'500'000'000u);
  EXPECT_FALSE(parse_seconds("."));
  EXPECT_FALSE(parse_seconds("2."));
  EXPECT_EQ(*parse_seconds("90"), 90'000'000'000u);
  EXPECT_EQ(*parse_seconds("10us"), 10'000u);
  EXPECT_FALSE(parse_seconds(""));
  EXPECT_EQ(*parse_time("10min"), 600'000'000'000u);
  EXPECT_EQ(*parse_time("10m"), 600'000'000'000u);
  EXPECT_EQ(*parse_time("2h"), 7'200'000'000'000u);
  EXPECT_EQ(*parse_time("1d"), 86'400'000'000'000u);
  for (const char* bad : {"", "s", "10", "1.5", "1.s", ".5s", "1 s", "-1s", "3 weeks", "99999999999999d", "10mi"}) {
    EXPECT_FALSE(parse_time(bad)) << bad;
  }
}

TEST(FileIo, ALineEndsBeforeTheNewline) {
  const std::string path = testing::TempDir() + "mlrun_line_" + std::to_string(::getpid());
  for (const auto& [text, line] : {std::pair{"a b \n", "a b "}, {"a", "a"}, {"a\nb\n", "a"}, {"\n", ""}, {"", ""}}) {
    ASSERT_TRUE(write_atomically(path, text, 0600));
    EXPECT_EQ(read_line(path), line) << text;
  }
  ::unlink(path.c_str());
  EXPECT_EQ(read_line(path), "");
}

TEST(Clock, TimesInUtc) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(1'764'099'795'999'999'999), "2025-11-25T19:43:15Z");
}

TEST(Clock, ChosenClockMovesForward) {
  const ClockChoice choice = choose_clock();
  EXPECT_EQ(choice.reason.empty(), choice.kind == MLRUN_CLOCK_TSC);
  const uint64_t before = stamp(choice.kind);
  EXPECT_GE(stamp(choice.kind), before);
}

TEST(ProcFiles, ExecutableMappingsWithOddNames) {
  const auto modules = collect::parse_modules(
      "55d000000000-55d000001000 r--p 00000000 fe:00 12 /usr/bin/a\n"
      "55d000001000-55d000005000 r-xp 00001000 fe:00 12 /usr/bin/a\n"
      "7f0000000000-7f0000001000 r-xp 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r-xp 00002000 fe:00 13                         /tmp/b c.so (deleted)\n"
      "7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]\n"
      "garbage\n");
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0], (collect::Module{0x55d000001000, 0x55d000005000, 0x1000, "/usr/bin/a"}));
  EXPECT_EQ(modules[1].path, "/tmp/b c.so (deleted)");
}

TEST(ProcFiles, RingsThatAreSharedWithTheKernelAreAmongTheMappings) {
  const auto modules = collect::parse_modules(
      "7f0000000000-7f0000001000 rw-s 00000000 00:0d 1041                       anon_inode:[io_uring]\n"
      "7f0000002000-7f0000003000 rw-s 00000000 00:0d 1042                       anon_inode:[eventfd]\n"
      "7f0000004000-7f0000005000 rw-s 00000000 00:11 2083                       /[aio] (deleted)\n");
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0], (collect::Module{0x7f0000000000, 0x7f0000001000, 0, "anon_inode:[io_uring]"}));
  EXPECT_EQ(modules[1].path, "/[aio] (deleted)");
}

TEST(ProcFiles, OurselvesAreThere) {
  const auto stat = collect::read_proc_stat(static_cast<uint32_t>(::getpid()));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->ppid, static_cast<uint32_t>(::getppid()));
  EXPECT_GT(stat->start_ticks, 0u);
  EXPECT_FALSE(collect::read_proc_stat(0));
  EXPECT_NE(collect::pid_namespace_of(0), 0u);
}

// In the middle of an exec a process has no environment.
TEST(ProcFiles, AnEnvironmentIsInUseAllTheTime) {
  const std::string variable = "MLRUN_IN_USE=" + std::to_string(::getpid());
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr const char* kAgain = "exec /bin/sh -c \"$0\" \"$0\"";
    ::putenv(const_cast<char*>(variable.c_str()));
    ::execl("/bin/sh", "sh", "-c", kAgain, kAgain, nullptr);
    ::_exit(127);
  }
  while (!collect::environment_in_use(variable)) ::usleep(1000);
  for (int i = 0; i < 300; i++) EXPECT_TRUE(collect::environment_in_use(variable)) << i;
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  while (collect::environment_in_use(variable)) ::usleep(1000);  // some other process may be executed
}

TEST(ArenaLayout, PartsFollowEachOtherAndFitTheirBudget) {
  for (const uint32_t count : {1u, 4u, 29u, 4096u, 65536u}) {
    const auto layout = collect::make_arena_layout(count);
    EXPECT_GE(layout.drained_offset, layout.owner_offset + 4ull * count);
    EXPECT_GE(layout.stage_offset, layout.drained_offset + 4ull * count);
    EXPECT_EQ(layout.stage_offset % 4096, 0u);
    EXPECT_EQ(layout.segments_offset % MLRUN_SEGMENT_BYTES, 0u);
    EXPECT_EQ(collect::segments_that_fit(layout.bytes), count);
    EXPECT_EQ(collect::segments_that_fit(layout.bytes - 1), count - 1);
  }
}

TEST(ArenaPlace, IsNeverInAFolderWithACommaInItsName) {
  for (const auto& place : collect::arena_places("/tmp/a,b", 8 << 20, true)) {
    EXPECT_EQ(place.path.find(','), std::string::npos);
  }
  const auto places = collect::arena_places("/tmp/ab", 8 << 20, true);
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places.back().path, "/tmp/ab/arena.bin");
}

TEST(ArenaPlace, OnlyNamesOfOurShapeAreArenas) {
  EXPECT_TRUE(collect::is_arena_name("mlrun-123-0123456789ab"));
  for (const char* other : {"mlrun-test-aMVhk1", "mlrun-1-0123456789a", "mlrun--0123456789ab", "mlrun-1-0123456789aB",
                            "mlrun-1", "sem.mlrun-1-0123456789ab"}) {
    EXPECT_FALSE(collect::is_arena_name(other)) << other;
  }
}

TEST(Wrap, BreaksBetweenWordsAndKeepsLongOnes) {
  EXPECT_EQ(wrapped("one two three", 8), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two three", 10, "ok   "), "ok   one\n     two\n     three\n");
  EXPECT_EQ(wrapped("a /a/long/path/that/stays b", 6), "a\n/a/long/path/that/stays\nb\n");
  EXPECT_EQ(wrapped("one\ntwo", 80, "  "), "  one\n  two\n");
  EXPECT_EQ(wrapped("\u00e9\u00e9 \u00e9\u00e9", 5), "\u00e9\u00e9 \u00e9\u00e9\n") << "characters, not bytes";
  EXPECT_EQ(wrapped("", 80), "\n");
}

TEST(Similar, NamesWhatIsMeantAndNothingElse) {
  const std::vector<std::string> verbs = {"run", "report", "show", "list", "recover"};
  EXPECT_EQ(most_similar("repotr", verbs), "report");
  EXPECT_EQ(most_similar("lsit", verbs), "list");
  EXPECT_EQ(most_similar("rnu", verbs), "run");
  EXPECT_EQ(most_similar("python", verbs), "");
  EXPECT_EQ(most_similar("ls", verbs), "");
  EXPECT_EQ(most_similar("", verbs), "");
  EXPECT_EQ(edit_distance("calls", "call"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

}  // namespace
}  // namespace mlrun::util
