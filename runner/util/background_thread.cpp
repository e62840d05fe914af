// SPDX-License-Identifier: Apache-2.0
#include "runner/util/background_thread.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <thread>
#include <utility>

namespace mlrun::util {

std::string start_background_thread(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread inherits the mask of its creator
  std::string problem;
  try {
    std::thread(std::move(body)).detach();
  } catch (const std::system_error& error) {
    problem = std::string("no thread can be started: ") + error.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return problem;
}

}  // namespace mlrun::util
