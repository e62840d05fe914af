// SPDX-License-Identifier: Apache-2.0
// fuzz_calls run SEED BATCHES CALLS FOLDER RESULTS: makes BATCHES times CALLS calls, each batch in a process and a folder of its own,
// and writes a record of each to the file RESULTS. The same seed makes the same calls.
// fuzz_calls compare RESULTS RESULTS: prints the calls that differ; 1: there were any.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/preload/fuzz/calls.h"
#include "tests/preload/fuzz/memory.h"
#include "tests/preload/fuzz/modes.h"

struct outcome {
  uint16_t call;
  uint8_t mode, signal;
  int32_t error;
  int64_t result;
  uint64_t memory;
};

struct batch {
  struct dice dice;
  enum mode mode;
  int calls, done;
  struct outcome *outcomes;
};

static sigjmp_buf before_call;
static void die(int number) { siglongjmp(before_call, number); }

static void catch_deaths(void) {
  static char stack[1 << 16];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction action = {.sa_handler = die, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}

// Calls that need more of a stack than a handler may have, without any tracer.
static bool needs_much_stack(const char *name) {
  static const char *const deep[] = {
      "realpath", "realpath_in_place", "canonicalize", "glob", "scandir", "execvp", "spawnp", "execl"};
  for (size_t i = 0; i < sizeof deep / sizeof *deep; i++)
    if (!strcmp(deep[i], name)) return true;
  return false;
}

static void make_one(struct batch *b, struct outcome *o) {
  enum { kUntouched = 4000 };
  do o->call = (uint16_t)below(&b->dice, (size_t)fuzzed_call_count);
  while (b->mode == kSignalStack && needs_much_stack(fuzzed_calls[o->call].name));
  struct dice after = {.state = roll(&b->dice)};
  b->dice.path = NULL;
  if (b->mode == kUnmapped) {
    if (!sigsetjmp(before_call, 1))
      call_on_memory_that_goes(&after);
    else
      o->signal = 1;
    return;
  }
  memory_fill();
  errno = kUntouched;
  int signal = sigsetjmp(before_call, 1);
  if (!signal) {
    o->result = fuzzed_calls[o->call].make(&after);
    o->error = errno;
  }
  o->signal = (uint8_t)signal;
  if (!signal && !fuzzed_calls[o->call].varies) o->memory = memory_hash();
}

static void make_calls(void *given) {
  struct batch *b = given;
  for (; b->done < b->calls; b->done++) make_one(b, &b->outcomes[b->done]);
}

static void make_file(const char *name, size_t bytes) {
  static char text[5000];
  int fd = open(name, O_CREAT | O_RDWR, 0644);
  memset(text, 'q', sizeof text);
  if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes) abort();
  close(fd);
}

static void furnish(const char *folder, int number) {
  char name[64];
  snprintf(name, sizeof name, "b%d", number);
  if (chdir(folder) || mkdir(name, 0755) || chdir(name) || mkdir("d0", 0755)) abort();
  make_file("f0", 5000);
  make_file("f1", 0);
  make_file("d0/f0", 10);
  if (symlink("f0", "l0") || symlink("missing", "l1") || symlink("loop", "loop")) abort();
  memset(name, 'y', sizeof name - 1);
  name[sizeof name - 1] = 0;
  if (symlink(name, "lf")) abort();
}

// Descriptors 0 to 9, none of which waits.
static void furnish_descriptors(void) {
  int pair[2];
  syscall(SYS_close_range, 0, ~0u, 0);
  if (open("f0", O_RDWR) != 0 || open("/dev/null", O_RDWR) != 1 || open("f1", O_RDWR | O_APPEND) != 2) _exit(3);
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair) || pipe2(pair, O_NONBLOCK)) _exit(4);
  if (open(".", O_RDONLY) != 7 || open("d0", O_RDONLY | O_DIRECTORY) != 8 || open("f0", O_PATH) != 9) _exit(5);
}

static void run_batch(struct batch *b, const char *folder, int number) {
  furnish(folder, number);
  furnish_descriptors();
  memory_name_folder();
  memory_make();
  catch_deaths();
  signal(SIGPIPE, SIG_IGN);
  alarm(60);
  run_in(b->mode, &b->dice, make_calls, b);
  _exit(0);
}

static int run(uint64_t seed, int batches, int calls, const char *folder, const char *results) {
  int fd = open(results, O_CREAT | O_TRUNC | O_RDWR, 0644);
  size_t bytes = (size_t)batches * (size_t)calls * sizeof(struct outcome);
  if (fd < 0 || ftruncate(fd, (off_t)bytes)) return perror(results), 2;
  struct outcome *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (all == MAP_FAILED) return perror("mmap"), 2;
  for (int i = 0; i < batches; i++) {
    struct batch b = {
        .dice = {.state = seed * 1000003 + (uint64_t)i}, .calls = calls, .outcomes = all + (size_t)i * (size_t)calls};
    b.mode = (enum mode)(i % (2 * kModes) < kModes ? kPlain : i % kModes);
    for (int k = 0; k < calls; k++) b.outcomes[k].mode = (uint8_t)b.mode;
    pid_t child = fork();
    if (!child) run_batch(&b, folder, i);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) printf("batch %d, mode %d: signal %d\n", i, b.mode, WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status))
      printf("batch %d, mode %d: exit %d\n", i, b.mode, WEXITSTATUS(status));
  }
  return 0;
}

static struct outcome *load(const char *path, size_t *count) {
  struct stat status;
  int fd = open(path, O_RDONLY);
  if (fd < 0 || fstat(fd, &status)) exit((perror(path), 2));
  *count = (size_t)status.st_size / sizeof(struct outcome);
  void *at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  return at == MAP_FAILED ? exit((perror(path), 2)), NULL : at;
}

static void print(const char *which, const struct outcome *o) {
  printf("  %s: %ld, errno %d, signal %d, memory %016lx\n", which, (long)o->result, o->error, o->signal,
         (long)o->memory);
}

static int compare(const char *left, const char *right) {
  size_t count, other, different = 0;
  const struct outcome *a = load(left, &count), *b = load(right, &other);
  if (count != other) return printf("%zu and %zu calls\n", count, other), 1;
  for (size_t i = 0; i < count; i++) {
    if (!memcmp(&a[i], &b[i], sizeof a[i])) continue;
    if (different++ < 20) {
      printf("call %zu, %s, mode %d\n", i, fuzzed_calls[a[i].call].name, a[i].mode);
      print("first", &a[i]), print("second", &b[i]);
    }
  }
  printf("%zu calls, %zu different\n", count, different);
  return different != 0;
}

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IONBF, 0);
  if (count == 7 && !strcmp(arguments[1], "run"))
    return run(strtoull(arguments[2], NULL, 10), atoi(arguments[3]), atoi(arguments[4]), arguments[5], arguments[6]);
  if (count == 4 && !strcmp(arguments[1], "compare")) return compare(arguments[2], arguments[3]);
  fprintf(stderr, "usage: fuzz_calls run SEED BATCHES CALLS FOLDER RESULTS | compare RESULTS RESULTS\n");
  return 2;
}
