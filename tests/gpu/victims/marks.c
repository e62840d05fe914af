// SPDX-License-Identifier: Apache-2.0
// Marks in known numbers, by NVTX and by mlrun_mark.h: marks known N | unique N | registered N | killed |
// cost N.
#define _GNU_SOURCE
#include <mlrun_mark.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static nvtxRangeId_t handed_over;

static void *end_it(void *nothing) {
  nvtxRangeEnd(handed_over);
  return nothing;
}

static void other_ways(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("Communication");
  nvtxEventAttributes_t a = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE, .category = 7};
  a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  a.payload.llValue = -42;
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = nvtxDomainRegisterStringA(domain, "all_reduce");
  nvtxDomainRangePushEx(domain, &a);
  nvtxRangePop();  // the default domain has none open
  nvtxDomainRangePop(domain);
  nvtxRangePushW(L"gr\u00fc\u00dfe \U0001f600");
  nvtxRangePop();
  char long_name[3000];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  nvtxMarkA(long_name);
  nvtxMarkA("");
  nvtxRangePushA("with\nnewline");
  nvtxRangePop();
  handed_over = nvtxRangeStartA("handed over");
  pthread_t thread;
  pthread_create(&thread, NULL, end_it, NULL);
  pthread_join(thread, NULL);
}

static void known(long n) {
  for (long i = 0; i < n; i++) {
    nvtxRangePushA("step");
    mlrun_mark_push("inner");
    mlrun_mark_instant("here");
    nvtxRangePop();  // does not end mlrun's range
    mlrun_mark_pop();
  }
  other_ways();
  nvtxRangePushA("left open");
  if (fork() == 0) {
    mlrun_mark_push("in the child");
    mlrun_mark_pop();
    _exit(0);
  }
  wait(NULL);
}

static void unique(long n) {
  char name[32];
  for (long i = 0; i < n; i++) {
    snprintf(name, sizeof name, "message %ld", i);
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

enum { kThreads = 4 };
static long registered_each;

// Registers names unique to this thread, in a domain that every thread creates again and again.
static void *register_names(void *thread) {
  char name[32];
  for (long i = 0; i < registered_each; i++) {
    snprintf(name, sizeof name, "registered %ld", (long)thread * registered_each + i);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("Workers");
    nvtxEventAttributes_t a = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE};
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    a.message.registered = nvtxDomainRegisterStringA(domain, name);
    nvtxDomainMarkEx(domain, &a);
  }
  return NULL;
}

static void registered(long n) {
  pthread_t threads[kThreads];
  registered_each = n / kThreads;
  for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, register_names, (void *)i);
  for (long i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
}

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

// CPU nanoseconds for a push and a pop, the least of 20 rounds.
static void cost(long n) {
  double least = 1e9;
  for (int round = 0; round < 20; round++) {
    const double begin = cpu_ns();
    for (long i = 0; i < n; i++) {
      nvtxRangePushA("forward");
      nvtxRangePop();
    }
    const double each = (cpu_ns() - begin) / (double)n;
    least = each < least ? each : least;
  }
  printf("%.1f\n", least);
}

int main(int argc, char **argv) {
  const long n = argc > 2 ? atol(argv[2]) : 0;
  if (!strcmp(argv[1], "known")) known(n);
  if (!strcmp(argv[1], "unique")) unique(n);
  if (!strcmp(argv[1], "registered")) registered(n);
  if (!strcmp(argv[1], "cost")) cost(n);
  if (!strcmp(argv[1], "killed")) {
    nvtxRangePushA("killed in here");
    raise(SIGKILL);
  }
  return 0;
}
