// SPDX-License-Identifier: Apache-2.0
// As libraries that keep memory registered with a device (UCX, Open MPI, libfabric) do: writes a jump over the code of libc's munmap, madvise and
// mremap, and notes what these release. Then blocks are freed and resized. Each line: CASE pages that the block has lost, and how many of those
// without a note.
// patches_libc forks: forks while another thread is in munmap for a block that it frees. Prints, by the child: whether the block's memory is mapped, and
// whether a block that grows gets its address.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPage = 4096, kNotes = 4096, kMiB = 1 << 20, kDontNeedLocked = 24 };

static struct { uintptr_t from, to; } notes[kNotes];
static int noted;

static void note(const void *at, size_t bytes) {
  if (noted == kNotes) abort();
  notes[noted].from = (uintptr_t)at;
  notes[noted++].to = (uintptr_t)at + bytes;
}

static long call(long number, long a, long b, long c, long d, long e) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
  if (number >= 0 || number < -4095) return number;
  errno = (int)-number;
  return -1;
}

static int own_munmap(void *at, size_t bytes) {
  note(at, bytes);
  return (int)call(SYS_munmap, (long)at, (long)bytes, 0, 0, 0);
}
static int own_madvise(void *at, size_t bytes, int advice) {
  if (advice == MADV_DONTNEED || advice == kDontNeedLocked) note(at, bytes);
  return (int)call(SYS_madvise, (long)at, (long)bytes, advice, 0, 0);
}
static void *own_mremap(void *at, size_t old, size_t bytes, int flags, void *to) {
  note(at, old);
  return (void *)call(SYS_mremap, (long)at, (long)old, (long)bytes, flags, (long)to);
}

static void patch(void *libc, const char *name, void *own) {
  char *code = dlsym(libc, name), *page = (char *)((uintptr_t)code / kPage * kPage);
  if (!code || mprotect(page, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC)) exit(77);
  memcpy(code, "\x48\xb8", 2);  // mov $own, %rax
  memcpy(code + 2, &own, 8);
  memcpy(code + 10, "\xff\xe0", 2);  // jmp *%rax
  mprotect(page, 2 * kPage, PROT_READ | PROT_EXEC);
}

static int has_note(uintptr_t page) {
  for (int i = 0; i < noted; i++)
    if (page >= notes[i].from && page + kPage <= notes[i].to) return 1;
  return 0;
}

// The block's whole pages: all were written.
static void show(const char *what, uintptr_t block, size_t bytes) {
  int lost = 0, without = 0;
  for (uintptr_t page = (block + kPage - 1) / kPage * kPage; page + kPage <= block + bytes; page += kPage) {
    unsigned char resident = 0;
    if (mincore((void *)page, kPage, &resident) == 0 && resident & 1) continue;
    lost++;
    without += !has_note(page);
  }
  printf("%s %d %d\n", what, lost, without);
  noted = 0;
}

static char *filled(size_t bytes) {
  char *block = malloc(bytes);
  if (!block) exit(4);
  memset(block, 1, bytes);
  return block;
}

static char *leaving;
static sem_t entered, forked;

static int slow_munmap(void *at, size_t bytes) {
  if (at == leaving) {
    leaving = NULL;
    sem_post(&entered);
    sem_wait(&forked);
  }
  return (int)call(SYS_munmap, (long)at, (long)bytes, 0, 0, 0);
}

static char *grown(void) {
  char *block = filled(8 * kMiB);
  filled(8 * kMiB);                   // stays behind it
  block = realloc(block, 96 * kMiB);  // more than is kept
  return memset(block, 1, 96 * kMiB);
}

static void *release(void *block) {
  free(block);
  return NULL;
}

static int forks_meanwhile(void) {
  pthread_t thread;
  unsigned char resident;
  char *block = grown();
  sem_init(&entered, 0, 0);
  sem_init(&forked, 0, 0);
  leaving = block;
  pthread_create(&thread, NULL, release, block);
  sem_wait(&entered);
  pid_t child = fork();
  if (!child) {
    int is_mapped = mincore(block, kPage, &resident) == 0;
    printf("%d %d\n", is_mapped, grown() == block);
    _exit(0);
  }
  sem_post(&forked);
  pthread_join(thread, NULL);
  return waitpid(child, NULL, 0) == child ? 0 : 4;
}

int main(int argc, char **argv) {
  void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  setvbuf(stdout, NULL, _IONBF, 0);
  if (argc > 1 && !strcmp(argv[1], "forks")) {
    patch(libc, "munmap", slow_munmap);
    return forks_meanwhile();
  }
  patch(libc, "munmap", own_munmap);
  patch(libc, "madvise", own_madvise);
  patch(libc, "mremap", own_mremap);

  char *block = filled(64 * kMiB);
  uintptr_t old = (uintptr_t)block;
  free(block);
  show("freed", old, 64 * kMiB);

  block = filled(64 * kMiB);
  old = (uintptr_t)block;
  block = realloc(block, kMiB);
  show("smaller", old, 64 * kMiB);
  free(block);

  block = filled(8 * kMiB);
  char *behind = filled(8 * kMiB);
  old = (uintptr_t)block;
  block = realloc(block, 96 * kMiB);  // more than is kept
  show("moved", old, 8 * kMiB);
  memset(block, 1, 96 * kMiB);
  old = (uintptr_t)block;
  free(block);
  show("grown", old, 96 * kMiB);
  free(behind);
  return 0;
}
