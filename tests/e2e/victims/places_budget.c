// SPDX-License-Identifier: Apache-2.0
// places_budget CASE: what is resident while blocks of 2 MiB and more change their size, in a heap that keeps freed pages. Prints how many bytes more
// than before the first block, and whether the contents were kept. Sizes are in MiB.
//   widens   a block of 24 is freed, then one grows from 2 to 30, where it is
//   moves    the same with another block behind it, to 26
//   grows    a block that has moved grows once more, after one of 20 was freed
//   shrinks  a block becomes smaller, from 30 to 17, then one of 12 is allocated
//   aligned  24 blocks of 4, aligned to 64 KiB, are freed while the kernel refuses to take pages back; then 100 come and go, one at a time
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long resident(void) {
  static char text[100];
  FILE *file = fopen("/proc/self/statm", "r");
  setvbuf(file, text, _IOFBF, sizeof text);
  long all = 0, pages = 0;
  if (fscanf(file, "%ld %ld", &all, &pages) != 2) exit(2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static char *filled(size_t mib) { return memset(malloc(mib << 20), 7, mib << 20); }

static void refuse_madvise(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) exit(3);
}

static void come_and_go(int count, size_t mib) {
  char *blocks[24];
  for (int i = 0; i < count; i++) blocks[i] = memset(aligned_alloc(64 << 10, mib << 20), 7, mib << 20);
  for (int i = 0; i < count; i++) free(blocks[i]);
}

static char *resized(char *block, size_t from, size_t to) {
  block = realloc(block, to << 20);
  if (to > from) memset(block + (from << 20), 7, (to - from) << 20);
  return block;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  size_t size = 0;
  char *block = NULL, *other = NULL;
  long before = resident();
  if (!strcmp(what, "widens") || !strcmp(what, "moves")) {
    free(filled(24));
    block = filled(2);
    if (!strcmp(what, "moves")) other = filled(2);
    block = resized(block, 2, size = other ? 26 : 30);
  } else if (!strcmp(what, "grows")) {
    block = filled(2);
    other = filled(2);
    block = resized(block, 2, 8);
    free(filled(20));
    block = resized(block, 8, size = 28);
  } else if (!strcmp(what, "shrinks")) {
    block = resized(filled(30), 30, size = 17);
    other = filled(12);
  }
  if (!strcmp(what, "aligned")) {
    refuse_madvise();
    come_and_go(24, 4);
    for (int i = 0; i < 100; i++) come_and_go(1, 4);
  }
  long more = resident() - before;
  int kept = !other || (other[0] == 7 && other[(1 << 20) - 1] == 7);
  for (size_t i = 0; i < size << 20; i++) kept &= block[i] == 7;
  printf("%ld %d\n", more, kept);
}
