// SPDX-License-Identifier: Apache-2.0
#include "tests/preload/fuzz/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BASE ((char *)0x20000000000)
enum { kForbidden = kGoodPages, kConstant, kTooShort, kAllPages };

static char *page(int number) { return BASE + (size_t)number * kPage; }
static char *const kEnd = BASE + kGoodBytes;  // of what can be written

char *memory_good(void) { return BASE; }

static char absolute[4096];  // name of a file in the batch's folder

void memory_name_folder(void) {
  if (getcwd(absolute, sizeof absolute - 4)) strcat(absolute, "/f0");
}

void memory_make(void) {
  munmap(BASE, (size_t)kAllPages * kPage);
  mmap(BASE, kAllPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  strcpy(page(kConstant), absolute);
  mprotect(page(kForbidden), kPage, PROT_NONE);
  mprotect(page(kConstant), kPage, PROT_READ);
  int empty = memfd_create("empty", 0);
  mmap(page(kTooShort), kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, empty, 0);
  close(empty);
}

void memory_fill(void) { memset(BASE, 'x', kGoodBytes); }

uint64_t memory_hash(void) {
  uint64_t hash = 0;
  for (const uint64_t *w = (const uint64_t *)(void *)BASE; w < (const uint64_t *)(void *)kEnd; w++)
    hash = (hash ^ *w) * 0x100000001b3ull;
  return hash;
}

char *bad_pointer(struct dice *d) {
  char *const bad[] = {NULL,
                       (char *)1,
                       page(kForbidden),
                       page(kForbidden) + 7,
                       page(kTooShort),
                       page(kAllPages),
                       (char *)-1,
                       (char *)-4095,
                       (char *)(1ull << 63),
                       (char *)0xffff800000000000,
                       kEnd - 1 + 1,
                       (char *)(1ul << 47),
                       (char *)((1ul << 47) - 1),
                       page(kConstant)};
  return bad[below(d, sizeof bad / sizeof *bad)];
}

static const char *name(struct dice *d) {
  static char made[8192];
  static const char *const names[] = {"f0",        "f1",   "f2",   "d0",       "d1",      "d0/f0", "l0",
                                      "l1",        "loop", "lf",   "l0/x",     "missing", "",      ".",
                                      "missing/x", "./f0", "d0/n", "d0/../f1", "f3",      "new",   "new2"};
  size_t wanted = (size_t)ANY_OF(d, 255, 256, 300, 4094, 4095, 4096, 5000);
  if (below(d, 20)) return names[below(d, sizeof names / sizeof *names)];
  memset(made, 'n', wanted);
  for (size_t i = 1; below(d, 2) && i < wanted; i += 2) made[i] = '/', made[i - 1] = '.';
  made[wanted] = 0;
  return made;
}

// Ends where memory ends, crosses a page, or is anywhere. Sometimes its end is missing.
static char *choose_place(struct dice *d, size_t bytes) {
  switch (below(d, 10)) {
    case 0:
    case 1:
    case 2: return kEnd - bytes;
    case 3: return BASE + 2 * kPage - below(d, bytes);
    case 4: return BASE + below(d, kPage);
    case 5: return kEnd - bytes + !below(d, 4);
    default: return BASE + 2 * kPage + below(d, 1000);
  }
}

// Does not overlap another string of the call: a path cut short could name a real file of this machine.
static char *place(struct dice *d, const char *from) {
  size_t bytes = strlen(from) + 1;
  char *at = choose_place(d, bytes);
  for (int i = 0; i < d->strings; i++)
    if (at < d->ends[i] && d->starts[i] < at + bytes) return page(kConstant);
  if (d->strings < kStringsMax) d->starts[d->strings] = at, d->ends[d->strings++] = at + bytes;
  return memcpy(at, from, at + bytes > kEnd ? bytes - 1 : bytes);
}

// The absolute path lies where no other argument can be written over it: cut short, it would name a real folder of this machine.
char *path(struct dice *d) {
  size_t kind = below(d, 24);
  return d->path = kind > 2 ? place(d, name(d)) : kind ? bad_pointer(d) : page(kConstant);
}

char *text(struct dice *d) {
  static const char *const texts[] = {"r",          "w",       "a+", "r+x", "user.a", "user.missing",
                                      "security.b", "nothing", "",   "x"};
  return below(d, 8) ? place(d, texts[below(d, sizeof texts / sizeof *texts)]) : bad_pointer(d);
}

void *room(struct dice *d, size_t bytes) {
  size_t fits = bytes < kGoodBytes ? bytes : kGoodBytes;
  switch (below(d, 12)) {
    case 0: return bad_pointer(d);
    case 1: return kEnd - fits;
    case 2: return kEnd - fits / 2;
    case 3:
    case 4:
    case 5: return d->path ? d->path : BASE;
    case 6: return d->path ? d->path + below(d, 40) : BASE;
    case 7: return d->path ? d->path - below(d, 40) : BASE;
  }
  return BASE + below(d, 64) * 8;
}

const void *data(struct dice *d, size_t bytes) { return room(d, bytes); }

size_t size(struct dice *d) {
  return (size_t)ANY_OF(d, 0, 1, 2, 3, 7, 16, 100, 200, 255, 1000, 4095, 4096, 4097, 16384, 20000, 1 << 20, 0x7fffffff,
                        -1);
}

int fd(struct dice *d) {
  return below(d, 6) ? (int)below(d, 14) : (int)ANY_OF(d, -1, AT_FDCWD, 999, 1 << 20, 0x7fffffff, -2147483648, 40);
}

int dirfd_(struct dice *d) { return below(d, 2) ? AT_FDCWD : fd(d); }

long offset(struct dice *d) {
  return ANY_OF(d, 0, 1, 100, 4096, 5000, 1l << 20, 1l << 40, -1, -5, 0x7fffffffffffffff, 1l << 63);
}

long *offset_at(struct dice *d) {
  if (!below(d, 3)) return NULL;
  if (!below(d, 8)) return (long *)(void *)bad_pointer(d);
  long *at = (long *)(void *)(below(d, 4) ? BASE + 512 : kEnd - 8);
  *at = offset(d);
  return at;
}

struct iovec *vector(struct dice *d, int *count) {
  *count = (int)ANY_OF(d, 0, 1, 2, 3, 3, 3, 8, 16, 17, 60, 1024, 1025, -1);
  if (!below(d, 10)) return (struct iovec *)(void *)bad_pointer(d);
  int made = *count < 0 ? 1 : *count > 64 ? 64 : *count;
  char *at = below(d, 3) ? BASE + 3 * kPage : kEnd - (size_t)made * sizeof(struct iovec);
  struct iovec *v = (struct iovec *)(void *)at;
  for (int i = 0; i < made; i++) v[i] = (struct iovec){room(d, 16), (size_t)ANY_OF(d, 0, 1, 5, 16, 16, 100, 4096, -1)};
  return v;
}

struct msghdr *message(struct dice *d) {
  if (!below(d, 10)) return (struct msghdr *)(void *)bad_pointer(d);
  int count;
  struct iovec *v = vector(d, &count);
  char *at = below(d, 3) ? BASE + kPage : kEnd - sizeof(struct msghdr);
  struct msghdr *m = (struct msghdr *)(void *)at;
  *m = (struct msghdr){.msg_iov = v, .msg_iovlen = (size_t)count};
  if (below(d, 2)) m->msg_control = room(d, 64), m->msg_controllen = (size_t)ANY_OF(d, 0, 8, 24, 64, 4096);
  if (!below(d, 6)) m->msg_name = bad_pointer(d), m->msg_namelen = (unsigned)ANY_OF(d, 0, 16, -1);
  return m;
}

char **strings(struct dice *d) {
  static char *many[3000];
  static const char *const entries[] = {"A=1", "LD_PRELOAD=", "LD_PRELOAD", "MLRUN_SESSION=x", "CUDA_INJECTION64_PATH",
                                        "",    "MLRUN"};
  if (!below(d, 6)) return (char **)(void *)bad_pointer(d);
  if (!below(d, 4)) return environ;
  size_t count = (size_t)ANY_OF(d, 0, 1, 2, 5, 20);
  bool is_long = !below(d, 30);
  char **list = is_long ? many : (char **)(void *)(below(d, 2) ? BASE + kPage : kEnd - (count + 1) * sizeof(char *));
  if (is_long) count = (size_t)ANY_OF(d, 100, 1500, 2900);
  for (size_t i = 0; i < count; i++) {
    const char *entry = entries[below(d, 7)];
    size_t bytes = strlen(entry) + 1;
    list[i] = (char *)(uintptr_t)entry;
    if (!below(d, 20)) list[i] = bad_pointer(d);
    if (!below(d, 20)) list[i] = memcpy(BASE + 2 * kPage - bytes, entry, bytes);
    if (!below(d, 20) && list != many && (char *)list < kEnd - kPage)
      list[i] = memcpy(kEnd - bytes + 1, entry, bytes - 1);
  }
  if (below(d, 8) || is_long) list[count] = NULL;
  return list;
}
