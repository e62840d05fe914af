// SPDX-License-Identifier: Apache-2.0
// Preloaded behind the interposer, with -z initfirst, so that it runs first: makes the process look like one of an
// older glibc that does not link libpthread. The kernel knows of no robust list, and the control block holds none.
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void forget(void) {
  unsigned long *block, *head = 0, length = 0;
  __asm__("movq %%fs:0,%0" : "=r"(block));
  syscall(SYS_get_robust_list, 0, &head, &length);
  if (head < block || head > block + 512) return;
  head[0] = head[1] = 0;
  syscall(SYS_set_robust_list, 0, 24);
}
