// SPDX-License-Identifier: Apache-2.0
// A kernel that has any node: calls of mbind and set_mempolicy are caught and succeed without effect, and their arguments are compared. Most
// machines that run tests have one node.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::placement {

struct CaughtPolicy {
  long mode = 0;
  std::vector<uint32_t> nodes;             // as the kernel reads them
  long address = 0, bytes = 0, flags = 0;  // of mbind
  bool operator==(const CaughtPolicy&) const = default;
};

inline void PrintTo(const CaughtPolicy& caught, std::ostream* to) {
  *to << "mode " << caught.mode << ", nodes " << testing::PrintToString(caught.nodes) << ", " << caught.bytes
      << " bytes at " << caught.address << ", flags " << caught.flags;
}

inline std::vector<CaughtPolicy> caught_so_far;

// Linux reads one bit less than maxnode says (get_nodes in mm/mempolicy.c).
inline std::vector<uint32_t> nodes_read(long mask, long maxnode) {
  std::vector<uint32_t> nodes;
  const auto* words = reinterpret_cast<const uint64_t*>(mask);  // NOLINT(performance-no-int-to-ptr)
  for (uint32_t node = 0; node + 1 < maxnode; node++) {
    if ((words[node / 64] >> (node % 64) & 1) != 0) nodes.push_back(node);
  }
  return nodes;
}

// The signal comes from the call's own instruction, where no lock of malloc is held.
inline void catch_policy(int /*signal*/, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  CaughtPolicy caught;
  if (info->si_syscall == SYS_mbind) {
    caught = {registers[REG_RDX], nodes_read(registers[REG_R10], registers[REG_R8]), registers[REG_RDI],
              registers[REG_RSI], registers[REG_R9]};
  } else {
    caught = {registers[REG_RDI], nodes_read(registers[REG_RSI], registers[REG_RDX])};
  }
  caught_so_far.push_back(caught);
  registers[REG_RAX] = 0;
}

// `body` runs in a thread, which the filter ends with; it also applies to threads that this one starts.
inline std::vector<CaughtPolicy> caught_policies(const std::function<void()>& body) {
  caught_so_far.clear();
  struct sigaction action {};
  action.sa_sigaction = catch_policy;
  action.sa_flags = SA_SIGINFO;
  EXPECT_EQ(::sigaction(SIGSYS, &action, nullptr), 0);
  std::thread([&] {
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 1, 0),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_set_mempolicy, 0, 1),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    body();
  }).join();
  return caught_so_far;
}

}  // namespace mlrun::placement
