// SPDX-License-Identifier: Apache-2.0
#include "runner/session/source_version.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::session {
namespace {

namespace fs = std::filesystem;

class SourceVersionTest : public ::testing::Test {
 protected:
  SourceVersionTest() {
    std::string name = fs::temp_directory_path() / "source_versionXXXXXX";
    folder_ = ::mkdtemp(name.data());
    // Whatever configuration this machine has.
    git_ = "env -u GIT_DIR GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git -c user.name=n -c user.email=e ";
  }
  ~SourceVersionTest() override { fs::remove_all(folder_); }

  void git(const std::string& in, const std::string& words) {
    const std::string command = git_ + "-C '" + (folder_ / in).string() + "' " + words + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << words;
  }
  // As git itself says it.
  std::string commit(const std::string& in) {
    const std::string command = git_ + "-C '" + (folder_ / in).string() + "' rev-parse HEAD";
    FILE* pipe = ::popen(command.c_str(), "r");
    char text[100] = "";
    const char* read = std::fgets(text, sizeof text, pipe);
    ::pclose(pipe);
    const std::string line = read == nullptr ? "" : read;
    return line.substr(0, line.find('\n'));
  }
  void make_tree() {
    fs::create_directories(folder_ / "tree/deep/er");
    git("tree", "init -q -b trunk/one");
    git("tree", "commit -q --allow-empty -m first");
  }
  nlohmann::json version(const std::string& in) { return source_version((folder_ / in).string()); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  fs::path folder_;
  std::string git_;
};

TEST_F(SourceVersionTest, IsThatOfGitFromAnyFolderOfTheTree) {
  make_tree();
  const nlohmann::json expected = {
      {"root", (folder_ / "tree").string()}, {"commit", commit("tree")}, {"branch", "trunk/one"}};
  EXPECT_EQ(version("tree"), expected);
  EXPECT_EQ(version("tree/deep/er"), expected);
  git("tree", "commit -q --allow-empty -m second");
  EXPECT_NE(version("tree")["commit"], expected["commit"]);
  git("tree", "pack-refs --all");
  EXPECT_EQ(version("tree")["commit"], commit("tree"));
  git("tree", "checkout -q --detach");
  EXPECT_EQ(version("tree")["commit"], commit("tree"));
  EXPECT_TRUE(version("tree")["branch"].is_null());
}

TEST_F(SourceVersionTest, InAFurtherWorkTreeItIsThatOfTheTree) {
  make_tree();
  git("tree", "worktree add -b two ../further");
  git("further", "commit -q --allow-empty -m second");
  EXPECT_NE(commit("further"), commit("tree"));
  EXPECT_EQ(version("further")["commit"], commit("further"));
  EXPECT_EQ(version("further")["branch"], "two");
}

TEST_F(SourceVersionTest, IsNullWhereThereIsNone) {
  EXPECT_TRUE(version(".").is_null() || version(".")["root"] != folder_.string());
  fs::create_directories(folder_ / "empty");
  git("empty", "init -q");
  EXPECT_TRUE(version("empty").is_null()) << "without a commit";
}

TEST_F(SourceVersionTest, TakesNoOtherTextForACommit) {
  fs::create_directories(folder_ / "odd/.git");
  for (const char* head : {"", "ref: ", "ref: refs/heads/none", "ref: refs/../../secret", "ref: /etc/hostname",
                           "not hexadecimal", "ref: refs/heads/loop"}) {
    write("odd/.git/HEAD", head);
    write("secret", std::string(40, 'a'));
    fs::create_directories(folder_ / "odd/.git/refs/heads");
    write("odd/.git/refs/heads/loop", "ref: refs/heads/loop\n");
    EXPECT_TRUE(version("odd").is_null()) << head;
  }
  fs::remove(folder_ / "odd/.git/HEAD");
  ASSERT_EQ(::mkfifo((folder_ / "odd/.git/HEAD").c_str(), 0600), 0);
  EXPECT_TRUE(version("odd").is_null()) << "a pipe";
  fs::create_directories(folder_ / "far");
  write("far/.git", "gitdir: nowhere");
  EXPECT_TRUE(version("far").is_null());
}

}  // namespace
}  // namespace mlrun::session
