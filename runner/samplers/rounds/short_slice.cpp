// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/rounds/short_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace mlrun::rounds {

namespace {

// The kernel's sched_attr in its first version. The kernel's header conflicts with sched.h on older systems.
struct SchedulingOfThread {
  uint32_t size = sizeof(SchedulingOfThread);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0, deadline = 0, period = 0;
};
static_assert(sizeof(SchedulingOfThread) == 48);

}  // namespace

void ask_for_short_slices() {
  constexpr uint64_t kSliceNs = 100'000;  // the kernel's least
  SchedulingOfThread mine;
  if (syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) != 0 || mine.policy != SCHED_OTHER) return;
  mine.runtime = kSliceNs;
  syscall(SYS_sched_setattr, 0, &mine, 0);
}

}  // namespace mlrun::rounds
