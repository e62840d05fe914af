// SPDX-License-Identifier: Apache-2.0
// Which processes have surely ended, from folders that are made like /proc. Real processes: t888, t891.
#include "runner/placement/slot_owners.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace mlrun::placement {
namespace {

constexpr uint64_t kLong = 10'000'000'000;
constexpr uint32_t kPid = 5'000'000;  // larger than the kernel's largest, so that no process has it

class SlotOwnersTest : public testing::Test {
 protected:
  SlotOwnersTest() : root_(std::filesystem::temp_directory_path() / ("slot_owners" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(root_);
    put_namespace("ours");
    put_namespace("inner");
    put_process(1, 1, "S", "ours", "1");
    std::filesystem::create_directories(root_ / "self/ns");
    std::filesystem::create_hard_link(root_ / "ours", root_ / "self/ns/pid");
  }
  ~SlotOwnersTest() override { std::filesystem::remove_all(root_); }

  void put_namespace(const std::string& name) const {
    std::filesystem::create_directories(root_);
    std::ofstream(root_ / name) << name;
  }
  [[nodiscard]] uint64_t namespace_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat((root_ / name).c_str(), &status), 0);
    return status.st_ino;
  }
  // `pids`: in all namespaces, its own last. `space` "": that may not be read.
  void put_process(uint32_t pid, uint64_t start_ticks, const std::string& state, const std::string& space,
                   const std::string& pids) const {
    const std::filesystem::path folder = root_ / std::to_string(pid);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "ns");
    std::ofstream(folder / "stat") << pid << " (python3) " << state << " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 "
                                   << start_ticks << " 0 0\n";
    std::ofstream(folder / "status") << "Name:\tpython3\nNSpid:\t" << pids << "\n";
    if (!space.empty()) std::filesystem::create_hard_link(root_ / space, folder / "ns/pid");
  }
  void put_process(uint32_t pid, uint64_t start_ticks = 100, const std::string& state = "S") const {
    put_process(pid, start_ticks, state, "ours", std::to_string(pid));
  }
  void end_process(uint32_t pid) const { std::filesystem::remove_all(root_ / std::to_string(pid)); }

  [[nodiscard]] CountedProcess counted(uint32_t number, uint32_t pid, uint64_t window = 0x1000,
                                       const std::string& space = "ours") const {
    return {number, number, pid, space.empty() ? 0 : namespace_of(space), window, 0, 0};
  }
  static std::string state_of(const SlotOwners& owners, const CountedProcess& process) {
    const Owner* const owner = owners.of(process);
    if (owner == nullptr) return "unknown";
    if (owner->ended) return "ended";
    return owner->is_sampled ? "sampled" : "there";
  }

  std::filesystem::path root_;
};

TEST_F(SlotOwnersTest, AfterAnExecTheOldSlotHasEnded) {
  put_process(kPid);
  const CountedProcess before = counted(1, kPid, 0x1000), after = counted(2, kPid, 0x2000);
  SlotOwners owners(root_);
  owners.look({before}, kLong);
  EXPECT_EQ(state_of(owners, before), "sampled");
  owners.look({before, after}, kLong);
  EXPECT_EQ(state_of(owners, before), "ended");
  EXPECT_EQ(state_of(owners, after), "sampled");
}

TEST_F(SlotOwnersTest, AChildOfABareCloneMayStillCountForItsParentsPid) {
  put_process(kPid);
  const CountedProcess parent = counted(1, kPid), child = counted(2, kPid);
  SlotOwners owners(root_);
  owners.look({parent, child}, kLong);
  EXPECT_EQ(state_of(owners, parent), "there");
}

TEST_F(SlotOwnersTest, ProcessesWhosePidIsFreeOrReusedHaveEnded) {
  put_process(kPid);
  put_process(kPid + 1);
  const CountedProcess gone = counted(1, kPid), reused = counted(2, kPid + 1);
  SlotOwners owners(root_);
  owners.look({gone, reused}, kLong);
  EXPECT_EQ(state_of(owners, reused), "sampled");
  end_process(kPid);
  put_process(kPid + 1, 200);
  owners.look({gone, reused}, kLong);
  EXPECT_EQ(state_of(owners, gone), "ended");
  EXPECT_EQ(state_of(owners, reused), "ended");
  owners.look({reused}, kLong);
  EXPECT_EQ(state_of(owners, gone), "unknown") << "its slot is of another process";
}

// The main thread of a process can end before its others.
TEST_F(SlotOwnersTest, AZombieKeepsItsSlot) {
  put_process(kPid, 100, "Z");
  SlotOwners owners(root_);
  owners.look({counted(1, kPid)}, kLong);
  EXPECT_EQ(state_of(owners, counted(1, kPid)), "there");
}

TEST_F(SlotOwnersTest, WithoutAPidOrNamespaceNothingIsKnown) {
  put_process(7);
  SlotOwners owners(root_);
  const CountedProcess confined = counted(1, 0), without_proc = counted(2, 7, 0, ""), sum = counted(0, 0);
  owners.look({confined, without_proc, sum}, kLong);
  for (const CountedProcess& process : {confined, without_proc, sum}) EXPECT_EQ(state_of(owners, process), "unknown");
}

TEST_F(SlotOwnersTest, InAnotherNamespaceTheyAreFoundOrHaveEnded) {
  put_process(kPid, 100, "S", "inner", "5000000 7");
  put_process(kPid + 1, 100, "S", "ours", "8");
  const CountedProcess lives = counted(1, 7, 0x1000, "inner"), ended = counted(2, 8, 0x2000, "inner");
  SlotOwners owners(root_);
  owners.look({lives, ended}, kLong);
  EXPECT_EQ(state_of(owners, lives), "sampled");
  EXPECT_EQ(owners.of(lives)->host_pid, kPid);
  EXPECT_EQ(state_of(owners, ended), "ended") << "before its first look";
  end_process(kPid);
  owners.look({lives, ended}, kLong);
  EXPECT_EQ(state_of(owners, lives), "ended");
}

TEST_F(SlotOwnersTest, AHiddenProcessKeepsItsSlot) {
  put_process(kPid, 100, "S", "", "5000000 7");
  const CountedProcess process = counted(1, 7, 0x1000, "inner"), other = counted(2, 9, 0x2000, "inner");
  SlotOwners owners(root_);
  for (int i = 0; i < 5; i++) owners.look({process}, kLong);
  EXPECT_EQ(state_of(owners, process), "there") << "its namespace may not be read";
  end_process(1);
  owners.look({process, other}, kLong);
  EXPECT_EQ(state_of(owners, other), "there") << "processes of other users are not listed";
}

TEST_F(SlotOwnersTest, ALongSearchContinuesInTheNextCall) {
  for (uint32_t i = 0; i < 200; i++) put_process(kPid + i);
  const CountedProcess ended = counted(1, 7, 0x1000, "inner"), later = counted(2, 9, 0x2000, "inner");
  SlotOwners owners(root_);
  owners.look({ended}, 0);
  EXPECT_EQ(state_of(owners, ended), "there");
  put_process(kPid + 900, 100, "S", "inner", "5000900 9");
  owners.look({ended, later}, 0);
  EXPECT_EQ(state_of(owners, ended), "there");
  for (int i = 0; i < 20; i++) owners.look({ended, later}, 0);
  EXPECT_EQ(state_of(owners, ended), "ended");
  EXPECT_EQ(state_of(owners, later), "sampled") << "it began after the first search";
}

}  // namespace
}  // namespace mlrun::placement
