// SPDX-License-Identifier: Apache-2.0
// What is prepared for the command: its environment, the trace folder, the options that were asked for.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "runner/launch/environment.h"
#include "runner/launch/session_file.h"
#include "runner/launch/trace_folder.h"
#include "runner/options.h"
#include "tests/runner/collect/session.h"

namespace mlrun::launch {
namespace {

using collect::testing::Folder;

TEST(PreloadValue, OursIsFirstAndTheOthersStay) {
  EXPECT_EQ(preload_value("", "/x/libmlrun_preload.so"), "/x/libmlrun_preload.so");
  EXPECT_EQ(preload_value("/a.so /b.so:c.so", "/x/libmlrun_preload.so"), "/x/libmlrun_preload.so:/a.so:/b.so:c.so");
}

TEST(PreloadValue, AnAddressSanitizerStaysBeforeUs) {
  EXPECT_EQ(preload_value("/a.so:/usr/lib/libasan.so.8", "/x/libmlrun_preload.so"),
            "/usr/lib/libasan.so.8:/x/libmlrun_preload.so:/a.so");
}

TEST(PreloadValue, AnotherCopyOfOursGoes) {
  EXPECT_EQ(preload_value("/old/libmlrun_preload.so:/a.so", "/x/libmlrun_preload.so"), "/x/libmlrun_preload.so:/a.so");
}

TEST(Environment, HasBothVariablesOnceAndTheRestUnchanged) {
  char a[] = "A=1", odd[] = "no equals sign", session[] = "MLRUN_SESSION=old", preload[] = "LD_PRELOAD=/a.so";
  char* before[] = {a, session, odd, preload, nullptr};
  const auto after = traced_environment(before, "/x/libmlrun_preload.so", "new");
  EXPECT_EQ(after, (std::vector<std::string>{"A=1", "no equals sign", "LD_PRELOAD=/x/libmlrun_preload.so:/a.so",
                                             "MLRUN_SESSION=new"}));
}

TEST(Environment, SecretsAreNotShown) {
  char key[] = "aws_access_key_id=AKIA", token[] = "HF_TOKEN=x", secret[] = "MY_SECRET=x", pass[] = "DB_PASSWD=x",
       auth[] = "AUTHORIZATION=x", credential[] = "GIT_CREDENTIALS=x", plain[] = "HOME=/root", bytes[] = "N=\xff";
  char* all[] = {key, token, secret, pass, auth, credential, plain, bytes, nullptr};
  auto shown = shown_environment(all);
  for (const char* name :
       {"aws_access_key_id", "HF_TOKEN", "MY_SECRET", "DB_PASSWD", "AUTHORIZATION", "GIT_CREDENTIALS"}) {
    EXPECT_EQ(shown[name], "(hidden)") << name;
  }
  EXPECT_EQ(shown["HOME"], "/root");
  EXPECT_EQ(shown["N"], "\\xff");
}

TEST(TraceFolder, TakesTheFirstFreeNumber) {
  const Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  std::filesystem::create_directory("mlrun-py-thon-2");
  EXPECT_EQ(*make_trace_folder({}, "/usr/bin/py thon"), folder.path + "/mlrun-py-thon-1");
  EXPECT_EQ(*make_trace_folder({}, "py thon"), folder.path + "/mlrun-py-thon-3");
  std::filesystem::current_path(before);
}

TEST(TraceFolder, NeverOneThatHoldsSomething) {
  const Folder folder;
  EXPECT_TRUE(make_trace_folder(folder.path + "/new/deep", "x"));
  EXPECT_TRUE(make_trace_folder(folder.path + "/new/deep", "x"));  // empty
  std::ofstream(folder.path + "/new/deep/file") << "x";
  EXPECT_FALSE(make_trace_folder(folder.path + "/new/deep", "x"));
  EXPECT_FALSE(make_trace_folder(folder.path + "/new/deep/file", "x"));
}

TEST(SessionFile, KnowsWhetherItsLeaderLives) {
  const Folder folder;
  SessionFile session(folder.path);
  ASSERT_TRUE(session.write());
  auto read = SessionFile::read(folder.path);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->leader_lives());
  read->data["leader"]["start_ticks"] = 1;  // another process had the number
  EXPECT_FALSE(read->leader_lives());
  read->data["leader"]["boot_id"] = "another";
  EXPECT_FALSE(read->same_boot());
}

TEST(SessionFile, OfADamagedFileIsAnError) {
  const Folder folder;
  EXPECT_FALSE(SessionFile::read(folder.path));
  std::ofstream(folder.path + "/session.json") << "{\"leader\": [";
  EXPECT_FALSE(SessionFile::read(folder.path));
  std::ofstream(folder.path + "/session.json") << "{\"leader\": {\"pid\": \"x\"}}";
  EXPECT_FALSE(SessionFile::read(folder.path)->leader_lives());
}

RunOptions options_of(const Arguments& arguments) {
  const auto parsed = parse_run(arguments);
  if (!parsed) ADD_FAILURE() << parsed.error().text;
  return parsed ? **parsed : RunOptions{};
}

std::string error_of(const Arguments& arguments) {
  const auto parsed = parse_run(arguments);
  return parsed ? "" : parsed.error().text;
}

TEST(RunOptions, WhatFollowsTheCommandBelongsToIt) {
  const RunOptions options = options_of({"--preload", "-o", "t", "python", "-o", "x", "--preload=off"});
  EXPECT_EQ(options.command, (Arguments{"python", "-o", "x", "--preload=off"}));
  EXPECT_EQ(options.preload, Wish::kOn);
  EXPECT_EQ(*options.output, "t");
  EXPECT_EQ(options_of({"--", "--odd", "--", "x"}).command, (Arguments{"--odd", "--", "x"}));
}

TEST(RunOptions, StreamsOfPreload) {
  EXPECT_TRUE(options_of({"x"}).files && options_of({"x"}).allocs);
  EXPECT_EQ(options_of({"x"}).preload, Wish::kAuto);
  const RunOptions files = options_of({"--preload=files,require", "x"});
  EXPECT_TRUE(files.files && !files.allocs);
  EXPECT_EQ(files.preload, Wish::kRequire);
  EXPECT_NE(error_of({"--preload=fils", "x"}).find("'fils'"), std::string::npos);
  EXPECT_NE(error_of({"--preload=off", "x"}), "");
}

TEST(RunOptions, StreamsThatThisBuildDoesNotHave) {
  EXPECT_NE(error_of({"--kprobes", "x"}).find("--kprobes"), std::string::npos);
  EXPECT_NE(error_of({"--sample=cpu,disk", "x"}), "");
  EXPECT_EQ(error_of({"--cupti=auto", "--access=off", "x"}), "");
}

TEST(RunOptions, SizesAndTheirBounds) {
  EXPECT_EQ(*options_of({"--buffer", "64M", "x"}).buffer_bytes, 64u << 20);
  EXPECT_EQ(options_of({"--alloc-min", "0", "x"}).alloc_min_bytes, 0u);
  EXPECT_EQ(*options_of({"--max-spool", "1GiB", "x"}).max_spool_bytes, 1u << 30);
  for (const char* bad : {"x", "-1", "1Q", "99999999999999999999", "1K", "8G", ""}) {
    EXPECT_NE(error_of({"--buffer", bad, "x"}), "") << bad;
  }
}

TEST(RunOptions, WhatIsNotAnOptionOrNoCommandIsAnError) {
  EXPECT_NE(error_of({"--nonsense", "x"}).find("--nonsense"), std::string::npos);
  EXPECT_NE(error_of({}), "");
  EXPECT_NE(error_of({"-o"}), "");
  EXPECT_NE(error_of({"--"}), "");
}

}  // namespace
}  // namespace mlrun::launch
