// SPDX-License-Identifier: Apache-2.0
// Launches an empty kernel by CUDA's driver, on a GPU or on the mock: launches WHAT COUNT [END]. It builds without CUDA
// and writes one JSON object to stdout before it ends.
// loop: COUNT launches, and what one takes of the thread's processor time ("ns_per_launch", the median of batches; waits
//   for the GPU are between batches).
// end: COUNT launches and a wait for them, and then END: return, exit, _exit, atexit (_exit in a function of atexit),
//   signal (_exit in a handler), abort, SIGTERM, SIGKILL, fork (a child that ends by _exit, and as many launches after it),
//   fork_exit (the same by exit; a child that does not end within 20 seconds is killed, which is an error),
//   exec (of true), thread (in another thread).
// graph: a graph of 1000 kernels, launched until there were COUNT of them.
// maps: how often mlrun's library for GPU work is in the process ("instances"): the driver gets its path, and it was
//   preloaded before that.
// LAUNCHES_CLIENT: a library that is loaded and started once CUDA is: a second client of CUPTI (minimal_client.c). Where it does
//   not start, the launches are made all the same: CUPTI may not take two.
// symbols: whether cuGetProcAddress gives what the library exports.
// Exit status: 77 without a driver, 3 where a call of CUDA fails.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kBatch = 500, kBatchesMax = 4096, kNodes = 1000, kNoDriver = 77, kFailed = 3, kThreadLocal = 1 };

static void *driver;
static long count;
static void *function, *stream;

// An export of the driver by its name, which is looked up once.
#define CUDA(name, parameters, ...)                                                                      \
  do {                                                                                                   \
    static int(*name) parameters;                                                                        \
    if (!(name)) (name) = (int(*) parameters)dlsym(driver, #name);                                       \
    int answer = (name) ? name(__VA_ARGS__) : -1;                                                        \
    if (answer) {                                                                                        \
      fprintf(stderr, "launches: %s: %s %d\n", #name, answer < 0 ? "is not exported" : "error", answer); \
      exit(kFailed);                                                                                     \
    }                                                                                                    \
  } while (0)

static const char kModule[] =
    ".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";

static void begin(void) {
  int device;
  void *context, *module;
  CUDA(cuInit, (unsigned), 0);
  CUDA(cuDeviceGet, (int *, int), &device, 0);
  CUDA(cuDevicePrimaryCtxRetain, (void **, int), &context, device);
  CUDA(cuCtxSetCurrent, (void *), context);
  CUDA(cuModuleLoadData, (void **, const void *), &module, kModule);
  CUDA(cuModuleGetFunction, (void **, void *, const char *), &function, module, "nothing");
  CUDA(cuStreamCreate, (void **, unsigned), &stream, 1);
}

static void start_client(void) {
  const char *path = getenv("LAUNCHES_CLIENT");
  void *client = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*start)(void) = client ? (int (*)(void))dlsym(client, "InitializeInjection") : NULL;
  if (!path || (start && start() == 1)) return;
  fprintf(stderr, "launches: %s did not start\n", path);
}

static void launch(void) {
  CUDA(cuLaunchKernel,
       (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
       function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static void wait_for_all(void) { CUDA(cuCtxSynchronize, (void), ); }

static void *launch_all(void *context) {
  if (context) CUDA(cuCtxSetCurrent, (void *), context);
  for (long i = 0; i < count; i++) {
    launch();
    if (i % kBatch == kBatch - 1) wait_for_all();
  }
  wait_for_all();
  return NULL;
}

static double cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// The first batch loads the kernel, and does not count.
static void measure(void) {
  static double batches[kBatchesMax];
  long done = 0;
  for (; done * kBatch < count && done < kBatchesMax; done++) {
    double before = cpu_ns();
    for (int i = 0; i < kBatch; i++) launch();
    batches[done] = (cpu_ns() - before) / kBatch;
    wait_for_all();
  }
  if (done < 2) exit(2);
  qsort(batches + 1, (size_t)done - 1, sizeof *batches, by_value);
  printf("{\"launches\": %ld, \"ns_per_launch\": %.1f}\n", done * kBatch, batches[1 + (done - 1) / 2]);
}

static void launch_graphs(void) {
  void *graph, *executable;
  CUDA(cuStreamBeginCapture_v2, (void *, int), stream, kThreadLocal);
  for (int i = 0; i < kNodes; i++) launch();
  CUDA(cuStreamEndCapture, (void *, void **), stream, &graph);
  CUDA(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long), &executable, graph, 0ull);
  long replays = (count + kNodes - 1) / kNodes;
  for (long i = 0; i < replays; i++) {
    CUDA(cuGraphLaunch, (void *, void *), executable, stream);
    if (i % 100 == 99) wait_for_all();
  }
  wait_for_all();
  printf("{\"launches\": %ld, \"nodes\": %d}\n", replays, kNodes);
}

static void compare_symbols(void) {
  static const char *const names[] = {"cuMemAlloc",     "cuMemFree",     "cuMemAllocAsync", "cuMemCreate",
                                      "cuLaunchKernel", "cuGraphLaunch", "cuCtxSynchronize"};
  const char *separator = "{\"same\": {";
  int version;
  CUDA(cuDriverGetVersion, (int *), &version);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char exported[64];
    snprintf(exported, sizeof exported, "%s_v2", names[i]);
    void *symbol = dlsym(driver, exported), *given = NULL;
    if (!symbol) symbol = dlsym(driver, names[i]);
    CUDA(cuGetProcAddress, (const char *, void **, int, uint64_t), names[i], &given, version, (uint64_t)0);
    printf("%s\"%s\": %s", separator, names[i], symbol == given ? "true" : "false");
    separator = ", ";
  }
  printf("}}\n");
}

static void count_instances(void) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) exit(2);
  char line[4096];
  int instances = 0;
  while (fgets(line, sizeof line, maps))  // the beginning of the file is mapped once by each
    instances += strstr(line, "libmlrun_cupti.so") && strstr(line, " 00000000 ");
  fclose(maps);
  printf("{\"instances\": %d}\n", instances);
}

static void end_here(void) { _exit(0); }
static void end_in_handler(int signal_number) {
  (void)signal_number;
  _exit(0);
}

// What CUPTI and the driver have registered for the end of the process runs in a child that calls exit, too.
static void end_child(bool calls_exit) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    if (!calls_exit) _exit(0);
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status) {
    fprintf(stderr, "launches: the child ended with status %#x\n", (unsigned)status);
    exit(kFailed);
  }
  launch_all(NULL);
}

static void launch_in_thread(void) {
  pthread_t thread;
  void *context;
  CUDA(cuCtxGetCurrent, (void **), &context);
  pthread_create(&thread, NULL, launch_all, context);
  pthread_join(thread, NULL);
}

// Requires: END is one of those above.
static int end(const char *how) {
  bool is_thread = !strcmp(how, "thread"), is_fork = !strncmp(how, "fork", 4);
  if (is_thread)
    launch_in_thread();
  else
    launch_all(NULL);
  if (is_fork) end_child(!strcmp(how, "fork_exit"));
  printf("{\"launches\": %ld}\n", is_fork ? 2 * count : count);
  fflush(stdout);
  if (!strcmp(how, "_exit")) _exit(0);
  if (!strcmp(how, "atexit")) atexit(end_here);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "SIGTERM")) raise(SIGTERM);
  if (!strcmp(how, "SIGKILL")) raise(SIGKILL);
  if (!strcmp(how, "exec")) execlp("true", "true", NULL);
  if (!strcmp(how, "signal")) {
    signal(SIGUSR1, end_in_handler);
    raise(SIGUSR1);
  }
  if (!strcmp(how, "return")) return 0;
  exit(0);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "launches loop|end|graph|maps|symbols COUNT [END]\n");
    return 2;
  }
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) {
    fprintf(stderr, "launches: %s\n", dlerror());
    return kNoDriver;
  }
  count = atol(argv[2]);
  begin();
  start_client();
  if (!strcmp(argv[1], "maps")) count_instances();
  if (!strcmp(argv[1], "loop")) measure();
  if (!strcmp(argv[1], "graph")) launch_graphs();
  if (!strcmp(argv[1], "symbols")) compare_symbols();
  return strcmp(argv[1], "end") || argc < 4 ? 0 : end(argv[3]);
}
