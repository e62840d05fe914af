// SPDX-License-Identifier: Apache-2.0
// Functions with known names that ask for GPU memory: each call of allocate_all() is 2 blocks of build_model() and 1 of
// leak_a_block(), directly or through `levels` more calls of go_down(), or in a thread of its own.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, uint64_t flags);

enum { kModel = 1 << 20, kLeaked = 4096, kScratch = 8192, kHandle = 2 << 20 };

int leak_a_block(void) {
  uint64_t address = 0;
  return cuMemAlloc_v2(&address, kLeaked);
}
// Frees what it gets, and fails once.
int use_scratch(void) {
  uint64_t address = 0, none = 0;
  int failed = cuMemAlloc_v2(&address, kScratch) || cuMemFree_v2(address);
  return failed || cuMemAlloc_v2(&none, 0) == 0;
}
int build_model(void) {
  uint64_t address = 0, handle = 0;
  char properties[32] = {1};
  return cuMemAlloc_v2(&address, kModel) || cuMemCreate(&handle, kHandle, properties, 0);
}
int allocate_all(void) {
  int built = build_model();
  int leaked = leak_a_block();
  return built || leaked || use_scratch();
}
// With room that has to be saved and given back on the way.
int go_down(int levels, int bytes_of_level) {
  volatile char room[bytes_of_level];
  room[0] = (char)levels;
  int result = levels == 0 ? leak_a_block() : go_down(levels - 1, bytes_of_level);
  room[bytes_of_level - 1] = room[0];
  return result;
}
static void *allocate_in(void *unused) { return allocate_all() ? &leak_a_block : unused; }
int allocate_in_thread(void) {
  pthread_t thread;
  void *failed = NULL;
  return pthread_create(&thread, NULL, allocate_in, NULL) || pthread_join(thread, &failed) || failed;
}
