// SPDX-License-Identifier: Apache-2.0
#include "runner/util/enough_stack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

namespace mlrun::util {

namespace {

constexpr rlim_t kEnoughBytes = 1 << 20;
constexpr size_t kOwnStackBytes = 2 << 20;

struct Work {
  const std::function<int()>& body;
  sigset_t mask;
  int result = 0;
};

void* run(void* argument) {
  auto* work = static_cast<Work*>(argument);
  ::pthread_sigmask(SIG_SETMASK, &work->mask, nullptr);
  work->result = work->body();
  return nullptr;
}

}  // namespace

int run_with_enough_stack(const std::function<int()>& body) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kEnoughBytes) return body();
  // The thread that only waits takes no signal: the body's thread decides what signals do.
  Work work{body, {}};
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &work.mask);
  pthread_attr_t attributes;
  pthread_t thread{};
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kOwnStackBytes);
  const bool started = ::pthread_create(&thread, &attributes, run, &work) == 0;
  ::pthread_attr_destroy(&attributes);
  if (started) ::pthread_join(thread, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &work.mask, nullptr);
  return started ? work.result : body();
}

}  // namespace mlrun::util
