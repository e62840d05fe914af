// SPDX-License-Identifier: Apache-2.0
// An allocator that never frees; its blocks are multiples of 64 bytes behind a header with their size. Built with and
// without a malloc_usable_size, and as one that takes a millisecond for everything and is struck by a signal when it
// frees a block of 5056 bytes.
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static char pool[256 << 20] __attribute__((aligned(64)));
static size_t used = 64;

static void take_time(void) {
#ifdef SLOW
  struct timespec now, start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 1000000);
#endif
}

void *malloc(size_t bytes) {
  take_time();
  size_t room = (bytes + 63) & ~(size_t)63, at = __atomic_fetch_add(&used, room + 64, __ATOMIC_RELAXED);
  memcpy(pool + at - 8, &room, 8);
  return pool + at;
}
static size_t room_of(const char *block) {
  size_t room;
  memcpy(&room, block - 8, 8);
  return room;
}
void free(void *block) {
  take_time();
#ifdef SLOW
  if (block && room_of(block) == 5056) raise(SIGUSR1);
#endif
  (void)block;
}
void *calloc(size_t count, size_t each) { return malloc(count * each); }
void *realloc(void *block, size_t bytes) {
  void *fresh = malloc(bytes);
  return block ? memcpy(fresh, block, room_of(block) < bytes ? room_of(block) : bytes) : fresh;
}
#ifdef WITH_USABLE_SIZE
size_t malloc_usable_size(void *block) { return block ? room_of(block) : 0; }
#endif
