// SPDX-License-Identifier: Apache-2.0
// Resource limits are meant for the command. mlrun needs descriptors, memory and file space for the arena and the
// spool, so it raises its own limits as far as possible and ignores SIGXFSZ; the command gets the original values.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace mlrun::launch {

class OwnLimits {
 public:
  OwnLimits() {
    const struct sigaction ignore = ignoring();
    ::sigaction(SIGXFSZ, &ignore, &action_before_);
    for (size_t i = 0; i < kResources.size(); i++) {
      ::getrlimit(kResources[i], &before_[i]);
      raise(kResources[i], before_[i]);
    }
    set_thread_stacks();
  }
  // The command's limit of files (ulimit -f).
  [[nodiscard]] rlim_t file_bytes() const { return before_[0].rlim_cur; }
  // To be called in the child before exec, or in this process before it becomes the command.
  void restore() const {
    for (size_t i = 0; i < kResources.size(); i++) ::setrlimit(kResources[i], &before_[i]);
    ::sigaction(SIGXFSZ, &action_before_, nullptr);
  }

 private:
  static constexpr std::array<__rlimit_resource_t, 5> kResources = {RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK,
                                                                    RLIMIT_NOFILE};
  static constexpr size_t kThreadStackBytes = 1 << 20;
  static constexpr rlim_t kStackBytes = 8 << 20;
  static constexpr rlim_t kDescriptors = 16'384;  // samplers keep some for each processor, process and thread

  // Finite values: an unlimited stack changes a program's memory layout.
  static rlim_t enough(__rlimit_resource_t resource) {
    if (resource == RLIMIT_STACK) return kStackBytes;
    return resource == RLIMIT_NOFILE ? kDescriptors : RLIM_INFINITY;
  }

  static void raise(__rlimit_resource_t resource, const rlimit& before) {
    const rlim_t wanted = enough(resource);
    if (before.rlim_cur >= wanted) return;
    const rlimit privileged{wanted, std::max(wanted, before.rlim_max)};
    const rlimit allowed{std::min(wanted, before.rlim_max), before.rlim_max};
    if (::setrlimit(resource, &privileged) != 0) ::setrlimit(resource, &allowed);
  }

  // A thread's default stack size is `ulimit -s`, which may be too small, or too large for the available memory.
  static void set_thread_stacks() {
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) != 0) return;
    ::pthread_attr_setstacksize(&attributes, kThreadStackBytes);
    ::pthread_setattr_default_np(&attributes);
    ::pthread_attr_destroy(&attributes);
  }

  static struct sigaction ignoring() {
    struct sigaction action {};
    action.sa_handler = SIG_IGN;
    return action;
  }

  std::array<rlimit, kResources.size()> before_{};
  struct sigaction action_before_ {};
};

}  // namespace mlrun::launch
