// SPDX-License-Identifier: Apache-2.0
#include "preload/record/child_end.h"

#include <sys/wait.h>

#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"

static void put(uint32_t pid, int status) {
  if (!WIFEXITED(status) && !WIFSIGNALED(status)) return;
  uint8_t lap;
  uint64_t *w = reserve(2 * MLRUN_UNIT_BYTES, MLRUN_CHILD_END, &lap);
  if (!w) return;
  w[1] = now_ticks();
  w[2] = (uint64_t)(uint32_t)status << 8;
  w[3] = 0;
  publish(w, lap, 2, MLRUN_CHILD_END, pid);
}

COLD void put_child_end(int64_t pid, const int *status) {
  int copy;
  if (pid > 0 && stamp() && copy_from_program(&copy, status, sizeof copy) == sizeof copy) put((uint32_t)pid, copy);
}

COLD void put_child_end_info(int64_t result, const siginfo_t *child) {
  siginfo_t copy;
  if (result || !stamp() || copy_from_program(&copy, child, sizeof copy) != sizeof copy || copy.si_pid <= 0) return;
  switch (copy.si_code) {
    case CLD_EXITED: put((uint32_t)copy.si_pid, (copy.si_status & 0xff) << 8); return;
    case CLD_KILLED: put((uint32_t)copy.si_pid, copy.si_status & 0x7f); return;
    case CLD_DUMPED: put((uint32_t)copy.si_pid, (copy.si_status & 0x7f) | 0x80); return;
  }
}
