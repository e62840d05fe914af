// SPDX-License-Identifier: Apache-2.0
// What a heap of its own could get wrong: places_edges CASE... Prints what must be the same wherever the blocks are.
//   zero     realloc to 0 bytes, as the program's allocator does it
//   shrink   realloc to a small block when there is no memory for another one
//   beside   memory that the program maps right where a growing block could go keeps its contents
//   clean    calloc after a block was made smaller and grew elsewhere
//   many     40,000 blocks of 64 KiB, none of them written, then a mapping of the program's own
//   guards   a fork while a page of a block may not be read
//   ends     blocks that exit() handlers and destructors allocate and free
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kLarge = 1 << 20, kMany = 40000, kPlace = 64 << 20 };

static void zero(void) {
  for (size_t size = 100; size <= kLarge; size *= 100) {
    char *block = malloc(size);
    memset(block, 1, size);
    errno = 0;
    char *left = realloc(block, 0);
    printf("realloc(%zu -> 0) %d errno %d\n", size, left != NULL, errno);
    free(left);
  }
}

static void shrink(void) {
  struct rlimit limit = {300 << 20, 300 << 20};
  setrlimit(RLIMIT_AS, &limit);
  char *kept = malloc(kLarge);
  memset(kept, 5, kLarge);
  for (size_t size = kLarge; size >= 64; size /= 4)
    while (malloc(size)) continue;
  errno = 0;
  char *small = realloc(kept, 1000);
  int same = small != NULL;
  for (int i = 0; same && i < 1000; i++) same = small[i] == 5;
  static const char good[] = "made smaller\n", bad[] = "NOT made smaller\n";
  (void)!write(1, same ? good : bad, same ? sizeof good - 1 : sizeof bad - 1);
  _exit(errno);
}

static char *grown_block(void) {
  char *block = malloc(8 * kLarge), *behind = malloc(8 * kLarge);  // so that it cannot grow where it is
  memset(block, behind != NULL, 8 * kLarge);
  return realloc(block, 9 * kLarge);
}

static void beside(void) {
  char *first = grown_block(), *mine[16];
  int kept = 1;
  for (int i = 0; i < 16; i++) {
    mine[i] = mmap(first + (size_t)(i + 1) * kPlace, kLarge, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mine[i] != MAP_FAILED) memset(mine[i], 7, kLarge);
  }
  char *others[4];
  for (int i = 0; i < 4; i++) memset(others[i] = grown_block(), 2, 9 * kLarge);
  for (int i = 0; i < 16; i++)
    for (int at = 0; mine[i] != MAP_FAILED && at < kLarge; at += 4096) kept &= mine[i][at] == 7;
  for (int i = 0; i < 4; i++)
    for (int at = 0; at < 9 * kLarge; at += 4096) kept &= others[i][at] == 2;
  printf("all contents are kept %d\n", kept);
}

// Sizes in MiB: the block is filled, becomes smaller, and grows where it has no room. Then one of nearly the first size is asked for.
static void clean_after(size_t first, size_t small, size_t large, size_t again) {
  char *block = malloc(first * kLarge), *behind = malloc(first * kLarge);
  memset(block, behind != NULL ? 255 : 0, first * kLarge);
  block = realloc(block, small * kLarge);
  block = realloc(block, large * kLarge);
  size_t wrong = 0, kept = 0;
  for (size_t i = 0; i < small * kLarge; i++) kept += (unsigned char)block[i] == 255;
  char *zeros = calloc(1, again * kLarge);
  for (size_t i = 0; i < again * kLarge; i++) wrong += zeros[i] != 0;
  printf("realloc(%zu -> %zu -> %zu) keeps %zu; calloc(%zu): %zu bytes are not 0\n", first, small, large, kept, again,
         wrong);
  free(zeros);
  free(block);
  free(behind);
}

static void clean(void) {
  clean_after(6, 5, 8, 6);
  clean_after(64, 40, 80, 60);
  clean_after(2, 1, 6, 2);
  for (size_t first = 5; first < 30; first += 3) clean_after(first, first - 1, first + 4, first);
}

static void many(void) {
  static void *blocks[kMany];
  int missing = 0;
  for (int i = 0; i < kMany; i++) missing += !(blocks[i] = malloc(65536));
  void *own = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int split = own != MAP_FAILED && mprotect((char *)own + 4096, 4096, PROT_READ) == 0;
  for (int i = 0; i < kMany; i++) free(blocks[i]);
  printf("missing %d, own mapping split %d\n", missing, split);
}

static void guards(void) {
  char *block = aligned_alloc(4096, kLarge);
  memset(block, 6, kLarge);
  mprotect(block + 8192, 4096, PROT_NONE);
  pid_t child = fork();
  if (!child) _exit(block[0] == 6 && block[8191] == 6 && block[12288] == 6 && block[kLarge - 1] == 6 ? 0 : 9);
  int status = 0;
  waitpid(child, &status, 0);
  mprotect(block + 8192, 4096, PROT_READ | PROT_WRITE);
  printf("child %d, parent's page %d\n", status, block[8192]);
  free(block);
}

static void *late;
static void at_exit_handler(void) {
  char *block = malloc(3 * kLarge);
  memset(block, 3, 3 * kLarge);
  block = realloc(block, 5 * kLarge);
  free(late);
  late = block;
}
__attribute__((destructor)) static void destructor(void) {
  if (!late) return;
  char *block = calloc(2, kLarge);
  printf("late %d, zeros %d\n", ((char *)late)[3 * kLarge - 1], block[kLarge] == 0);
  free(late);
  free(block);
}
static void ends(void) {
  late = malloc(kLarge);
  atexit(at_exit_handler);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "zero")) zero();
    if (!strcmp(argv[i], "shrink")) shrink();
    if (!strcmp(argv[i], "beside")) beside();
    if (!strcmp(argv[i], "clean")) clean();
    if (!strcmp(argv[i], "many")) many();
    if (!strcmp(argv[i], "guards")) guards();
    if (!strcmp(argv[i], "ends")) ends();
  }
  return 0;
}
