// SPDX-License-Identifier: Apache-2.0
// A kernel that refuses a system call, by a seccomp filter.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

namespace mlrun::placement {

// The call fails with this error if its first argument is `argument`. `body` runs in a thread, which the filter ends with; it also applies to threads
// that this one starts.
inline void where_it_is_refused(uint32_t call, uint32_t argument, uint32_t error, const std::function<void()>& body) {
  std::thread([&] {
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
                            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument, 0, 1),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    body();
  }).join();
}

}  // namespace mlrun::placement
