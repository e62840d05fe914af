// SPDX-License-Identifier: Apache-2.0
// rings HOW MILLISECONDS: makes what the kernel serves without calls, waits, and ends. HOW: libc (io_uring, mapped by libc's mmap), epoll and
// reads (the same, and it carries epoll_ctl, or epoll_ctl and one read among them), past (io_uring without libc, as liburing does),
// aio (Linux's own). Status 77: this kernel gives none.
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long past_libc(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return number;
}

static int make_ring(const char *how) {
  struct io_uring_params parameters = {0};
  aio_context_t context = 0;
  if (!strcmp(how, "aio")) return syscall(SYS_io_setup, 8, &context) == 0;
  int past = !strcmp(how, "past");
  long ring = past ? past_libc(SYS_io_uring_setup, 8, (long)&parameters, 0, 0, 0, 0)
                   : syscall(SYS_io_uring_setup, 8, &parameters);
  if (ring < 0) return 0;
  size_t bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(int);
  if (past)
    return past_libc(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING) > 0;
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)ring, IORING_OFF_SQ_RING) != MAP_FAILED;
}

enum { kEntries = 8, kRounds = 20, kReadRound = 9 };

// Hands over one entry a round, so that the places are used again.
static int use_ring(int reads) {
  struct io_uring_params parameters = {0};
  int ring = (int)syscall(SYS_io_uring_setup, kEntries, &parameters);
  if (ring < 0) return 0;
  size_t bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(int);
  size_t answers = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
  if (answers > bytes) bytes = answers;
  char *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  struct io_uring_sqe *entries =
      mmap(NULL, parameters.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  int epoll = epoll_create1(0), pipe_ends[2], zero = open("/dev/zero", O_RDONLY);
  if (words == MAP_FAILED || entries == MAP_FAILED || pipe(pipe_ends)) return 0;
  struct epoll_event event = {.events = EPOLLIN};
  char room[64];
  for (unsigned round = 0; round < kRounds; round++) {
    unsigned place = round & (parameters.sq_entries - 1);
    struct io_uring_sqe *entry = &entries[place];
    memset(entry, 0, sizeof *entry);
    if (reads && round == kReadRound) {
      *entry =
          (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = zero, .addr = (unsigned long)room, .len = sizeof room};
    } else {
      int operation = round % 2 ? EPOLL_CTL_DEL : EPOLL_CTL_ADD;
      *entry = (struct io_uring_sqe){.opcode = IORING_OP_EPOLL_CTL,
                                     .fd = epoll,
                                     .addr = (unsigned long)&event,
                                     .len = operation,
                                     .off = pipe_ends[0]};
    }
    ((unsigned *)(words + parameters.sq_off.array))[place] = place;
    __atomic_store_n((unsigned *)(words + parameters.sq_off.tail), round + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) return 0;
    unsigned *head = (unsigned *)(words + parameters.cq_off.head);
    __atomic_store_n(head, round + 1, __ATOMIC_RELEASE);
  }
  return 1;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  int reads = !strcmp(arguments[1], "reads");
  int made = reads || !strcmp(arguments[1], "epoll") ? use_ring(reads)
             : strcmp(arguments[1], "none")          ? make_ring(arguments[1])
                                                     : 1;
  if (!made) return 77;
  struct timespec tenth = {0, atol(arguments[2]) % 10000 * 100000};
  char byte;
  // The process must keep recording to be inspected.
  for (int i = 0; i < 10; i++) {
    int fd = open("/dev/zero", O_RDONLY);
    read(fd, &byte, 1);
    close(fd);
    nanosleep(&tenth, NULL);
  }
  return 7;
}
