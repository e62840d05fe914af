// SPDX-License-Identifier: Apache-2.0
// A program that uses the mock CUDA: cuda_app END LAUNCHES [LIBRARY [GLOBAL...]]. It writes its thread's number.
// END: exit, return, _exit, quick_exit, signal (_exit in a handler), abort, kill, twice (killed after a second
// part of its work, the first of which was fetched), fork, fork_exit and vfork (a child that ends by _exit), exec, thread, profile, keep,
// leave, finalize (by LIBRARY), unseen (finalize, and as much again after it), memory (LAUNCHES allocations), parts
// (managed memory and long names), graph (LAUNCHES launches of graphs), nodes (LAUNCHES launches of 1000 nodes, two by
// two, and two more after two seconds), nccl (as nodes, kernels of NCCL), held (as nodes without the last two; it is
// killed when they have been fetched), none (no CUDA), stacks (LIBRARY allocates, by libcudart, and the program once by
// the driver), reload (as stacks, twice, and LIBRARY is unloaded in between), marks (kernels in ranges of
// mlrun_mark.h), setgid (which each thread has to do), seccomp (return under a filter that kills at getpid and futex).
// LIBRARY is loaded before CUDA starts, as PyTorch loads its libcupti; GLOBAL is loaded before LIBRARY, with
// RTLD_GLOBAL.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mlrun_mark.h"
#include "mock_cupti.h"

enum { kVersions = 2 };
static const char *const kCupti[kVersions] = {"libcupti.so.13", "libcupti.so.12"};

static mock_do work;
static long launches;

static void launch(const char *name, int is_driver_call) {
  struct mock_work kernel = {.kernel = name, .is_driver_call = is_driver_call, .stream = 7};
  work(&kernel);
}

static void *launch_all(void *nothing) {
  for (long i = 0; i < launches; i++) launch(i % 2 ? "_Z6secondPf" : "_Z5firstILi4EEvPfi", 0);
  struct mock_work copy = {.bytes = 4096, .stream = 7};
  work(&copy);
  launch("triton_kernel", 1);
  return nothing;
}

enum { kDevice = 3, kPinned = 2, kManaged = 5, kBlock = 4096 };

static void allocate(uint64_t address, uint64_t bytes, uint32_t kind, uint64_t pool) {
  struct mock_work block = {
      .memory = 1, .address = address, .bytes = bytes, .memory_kind = kind, .pool = pool, .stream = 7};
  work(&block);
}
static void release(uint64_t address, uint64_t bytes, uint32_t kind, uint64_t pool) {
  struct mock_work block = {
      .memory = 2, .address = address, .bytes = bytes, .memory_kind = kind, .pool = pool, .stream = 7};
  work(&block);
}

// Blocks of GPU memory, three of which are kept; one block of pinned host memory that is kept; one block from a pool; a
// release of a block that was never allocated; and an address that is allocated twice.
static void use_memory(void) {
  const uint64_t base = 0x7f0000000000, pool = 0x7e0000000000;
  for (long i = 0; i < launches; i++) allocate(base + (uint64_t)i * kBlock, kBlock, kDevice, 0);
  for (long i = 3; i < launches; i++) release(base + (uint64_t)i * kBlock, kBlock, kDevice, 0);
  allocate(base - kBlock, 2 * kBlock, kPinned, 0);
  allocate(pool, kBlock, kDevice, pool);
  release(pool, kBlock, kDevice, pool);
  release(base - 2 * kBlock, kBlock, kDevice, 0);
  allocate(base, kBlock, kDevice, 0);
}

// Work that is recorded in part: memory whose pages migrate, and two kernels whose names differ only after the kept
// length. The names of two others differ in the last byte that is kept.
static void use_what_is_told_in_part(void) {
  enum { kKept = 12287, kLonger = 13000 };
  static const size_t bytes[] = {kKept, kKept, kLonger, kLonger};
  static char names[4][kLonger + 1];  // records point to them until they are fetched
  allocate(0x7d0000000000, kBlock, kManaged, 0);
  for (int i = 0; i < 4; i++) {
    memset(names[i], 'k', bytes[i]);
    names[i][bytes[i] - 1] = (char)('0' + i);
    launch(names[i], 0);
  }
}

static void launch_graphs(void) {
  for (long i = 0; i < launches; i++) {
    struct mock_work graph = {.graph = 1 + (uint32_t)(i % 2), .kernel = "_Z6secondPf", .bytes = 4096, .stream = 7};
    work(&graph);
  }
}

static void launch_nodes(const char *kernel) {
  struct mock_work graph = {.graph = 5, .kernel = kernel, .nodes = 1000, .is_twin = 1, .stream = 7};
  for (long i = 0; i < launches / 2; i++) work(&graph);
  sleep(2);
  work(&graph);
}

// And one that no libcudart has asked for.
static void allocate_in(void *library) {
  int (*all)(long) = (int (*)(long))dlsym(library, "allocate_all");
  if (!all || all(launches)) abort();
  struct mock_work block = {.memory = 1,
                            .address = 0x7e5000000000,
                            .bytes = 12345,
                            .memory_kind = kDevice,
                            .site = (uintptr_t)allocate_in,
                            .stream = 7};
  work(&block);
}

// As a plugin that comes and goes with a libcudart of its own.
static void allocate_and_reload(void *library, const char *path) {
  allocate_in(library);
  if (dlclose(library) || dlopen("libcudart-1b2c3d4e.so.12", RTLD_NOW | RTLD_NOLOAD)) abort();
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) abort();
  allocate_in(library);
}

static void launch_some(long count) {
  for (long i = 0; i < count; i++) launch("_Z6secondPf", 0);
}
static void *launch_backward(void *nothing) {
  launch_some(3);
  mlrun_mark_push("optimizer");
  launch_some(1);
  mlrun_mark_pop();
  launch_some(1);
  return nothing;
}

// Per step 2 kernels in forward, 1 beside it, and of a thread that has no range of its own (autograd's) 4 in backward and
// 1 in its own; before and behind all steps 1 in none, a copy and a memset in a step's part.
static void launch_in_ranges(void) {
  launch_some(1);
  for (long step = 0; step < launches; step++) {
    mlrun_mark_push("step");
    launch_some(1);
    mlrun_mark_push("forward");
    launch_some(2);
    mlrun_mark_pop();
    mlrun_mark_push("backward");
    pthread_t thread;
    pthread_create(&thread, NULL, launch_backward, NULL);
    pthread_join(thread, NULL);
    mlrun_mark_pop();
    mlrun_mark_push("copy");
    struct mock_work copy = {.bytes = 4096, .stream = 7};
    work(&copy);
    mlrun_mark_pop();
    mlrun_mark_pop();
  }
  launch_some(1);
}

static void end_here(int signal_number) { _exit(signal_number == SIGUSR1 ? 5 : 6); }

static void wait_for_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) abort();
  launch_all(NULL);
}

static void fork_child(bool calls_exit) {
  pid_t child = fork();
  if (child == 0) {
    (void)!write(1, "child\n", 6);
    if (!calls_exit) _exit(3);
    exit(3);
  }
  wait_for_child(child);
}

static void vfork_child(void) {
  pid_t child = vfork();
  if (child == 0) {
    (void)!write(1, "child\n", 6);
    _exit(3);
  }
  wait_for_child(child);
}

static uint64_t monotonic(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void pause_shortly(void) {
  const struct timespec pause = {0, 10000000};
  nanosleep(&pause, NULL);
}

static bool is_on_somewhere(uint32_t kind) {
  bool is_on = false;
  for (int i = 0; i < kVersions; i++) {
    void *cupti = dlopen(kCupti[i], RTLD_NOW | RTLD_NOLOAD);
    is_on |= cupti && ((mock_is_on)dlsym(cupti, "mock_cupti_is_on"))(kind);
  }
  return is_on;
}

static int all_flushes(void) {
  int flushes = 0;
  for (int i = 0; i < kVersions; i++) {
    void *cupti = dlopen(kCupti[i], RTLD_NOW | RTLD_NOLOAD);
    if (cupti) flushes += ((mock_flushes)dlsym(cupti, "mock_cupti_flushes"))();
  }
  return flushes;
}

// What was launched before is fetched, and as much again is not: it is written before the process is killed.
static void launch_until_killed(void) {
  uint64_t launched = monotonic();
  for (int before = all_flushes(); all_flushes() < before + 2;) pause_shortly();
  printf("launched %lu fetched %lu\n", launched, monotonic());
  fflush(stdout);
  launch_all(NULL);
  kill(getpid(), SIGKILL);
}

static void launch_until_fetched(void) {
  struct mock_work graph = {.graph = 5, .kernel = "_Z6secondPf", .nodes = 1000, .is_twin = 1, .stream = 7};
  for (long i = 0; i < launches / 2; i++) work(&graph);
  for (int before = all_flushes(); all_flushes() == before;) pause_shortly();
  kill(getpid(), SIGKILL);
}

// Where mlrun records: until it has CUPTI again, a minute at most. It asks for memsets, the profiler does not, and fetches
// when it has taken CUPTI back.
static void wait_for_mlrun(void) {
  enum { kMemset = 2, kTriesMax = 6000 };
  if (!dlsym(RTLD_DEFAULT, "mlrun_producer")) return;
  int tries = 0;
  for (; !is_on_somewhere(kMemset) && tries < kTriesMax; tries++) pause_shortly();
  for (int before = all_flushes(); all_flushes() == before && tries < kTriesMax; tries++) pause_shortly();
  if (tries == kTriesMax) abort();
}

// As much work again under the program's own profiler, which does nothing at first for as long as `idle`. Writes when, and
// what the profiler saw.
static void profile(void *library, const char *begin_name, const struct timespec *idle) {
  void (*begin)(void) = (void (*)(void))dlsym(library, begin_name);
  struct profile (*finish)(void) = (struct profile(*)(void))dlsym(library, "profiler_end");
  uint64_t from = monotonic();
  begin();
  uint64_t began = monotonic();
  nanosleep(idle, NULL);
  launch_all(NULL);
  uint64_t to = monotonic();
  struct profile saw = finish();
  printf("saw %d %d %d\n", saw.kernels, saw.calls, saw.others);
  printf("from %lu began %lu to %lu\n", from, began, to);
}

static void profile_sessions(void *library) {
  const char *const begins[] = {"profiler_begin", "profiler_begin", "profiler_begin_again"};
  for (unsigned i = 0; i < sizeof begins / sizeof begins[0]; i++) {
    const struct timespec idle = {i == 1 ? 3 : 0, 0};  // longer than mlrun waits where it may
    profile(library, begins[i], &idle);
    wait_for_mlrun();
    launch_all(NULL);
  }
}

// A session whose buffers CUPTI keeps for longer than mlrun waits to have it back.
static void profile_and_leave_buffers(void *library) {
  const struct timespec no_time = {0, 0}, three_seconds = {3, 0};
  profile(library, "profiler_begin", &no_time);
  nanosleep(&three_seconds, NULL);
  launch_all(NULL);
}

// Two sessions that the profiler leaves without fetching: one in which the GPU does nothing, one with work.
static void profile_and_leave(void *library) {
  void (*begin)(void) = (void (*)(void))dlsym(library, "profiler_begin");
  struct profile (*leave)(void) = (struct profile(*)(void))dlsym(library, "profiler_leave");
  struct profile (*counts)(void) = (struct profile(*)(void))dlsym(library, "profiler_counts");
  for (int session = 0; session < 2; session++) {
    uint64_t from = monotonic();
    begin();
    uint64_t began = monotonic();
    if (session == 1) launch_all(NULL);
    uint64_t to = monotonic();
    leave();
    printf("from %lu began %lu to %lu\n", from, began, to);
    wait_for_mlrun();
    struct profile saw = counts();
    printf("saw %d %d %d\n", saw.kernels, saw.calls, saw.others);
    launch_all(NULL);
  }
}

static void profile_and_finalize(void *library) {
  void (*finalize)(void) = (void (*)(void))dlsym(library, "profiler_finalize");
  const struct timespec no_time = {0, 0};
  profile(library, "profiler_begin", &no_time);
  finalize();
  profile(library, "profiler_begin", &no_time);
}

// Starts a client that bypasses the functions preloaded before CUPTI's, then does as much work again.
static void profile_unseen(void *library) {
  const struct timespec no_time = {0, 0}, two_seconds = {2, 0};
  profile(library, "profiler_begin", &no_time);
  launch_all(NULL);
  nanosleep(&two_seconds, NULL);
  launch_all(NULL);
}

static void run_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, launch_all, NULL);
  pthread_join(thread, NULL);
}

static void *wait_for_ever(void *nothing) {
  for (;;) pause();
  return nothing;
}

static void confine(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) abort();
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *end = argv[1];
  launches = atol(argv[2]);
  for (int i = 4; i < argc; i++)
    if (!dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL)) return 4;
  void *library = argc > 3 ? dlopen(argv[3], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (argc > 3 && !library) return 4;
  if (!strcmp(end, "none")) return 0;
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (!cuda) return 77;
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(cuda, "cuInit");
  work = (mock_do)dlsym(cuda, "mock_cuda_work");
  pthread_t earlier;
  if (!strcmp(end, "setgid")) pthread_create(&earlier, NULL, wait_for_ever, NULL);
  init(0);
  if (!strcmp(end, "memory"))
    use_memory();
  else if (!strcmp(end, "parts"))
    use_what_is_told_in_part();
  else if (!strcmp(end, "stacks"))
    allocate_in(library);
  else if (!strcmp(end, "reload"))
    allocate_and_reload(library, argv[3]);
  else if (!strcmp(end, "marks"))
    launch_in_ranges();
  else if (!strcmp(end, "graph"))
    launch_graphs();
  else if (!strcmp(end, "nodes"))
    launch_nodes("_Z6secondPf");
  else if (!strcmp(end, "held"))
    launch_until_fetched();
  else if (!strcmp(end, "nccl"))
    launch_nodes("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE");
  else if (strcmp(end, "thread"))
    launch_all(NULL);
  if (!strcmp(end, "thread")) run_in_thread();
  if (!strcmp(end, "setgid") && setgid(getgid())) abort();
  if (!strcmp(end, "seccomp")) confine();
  if (!strcmp(end, "_exit")) _exit(0);
  if (!strcmp(end, "quick_exit")) quick_exit(0);
  if (!strcmp(end, "abort")) abort();
  if (!strcmp(end, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(end, "exec")) execl("/bin/true", "true", NULL);
  if (!strcmp(end, "twice")) launch_until_killed();
  if (!strncmp(end, "fork", 4)) fork_child(!strcmp(end, "fork"));
  if (!strcmp(end, "vfork")) vfork_child();
  if (!strcmp(end, "profile")) profile_sessions(library);
  if (!strcmp(end, "keep")) profile_and_leave_buffers(library);
  if (!strcmp(end, "leave")) profile_and_leave(library);
  if (!strcmp(end, "unseen")) profile_unseen(library);
  if (!strcmp(end, "finalize")) profile_and_finalize(library);
  if (!strcmp(end, "signal")) {
    signal(SIGUSR1, end_here);
    raise(SIGUSR1);
  }
  return 0;
}
