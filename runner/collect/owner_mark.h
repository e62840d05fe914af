// SPDX-License-Identifier: Apache-2.0
// Marks a word of the arena as held by this thread, so that the kernel sets FUTEX_OWNER_DIED in it when the thread
// dies for any reason. A robust mutex does the same, but a pthread mutex keeps list pointers beside its lock, and a
// process that can write to the arena could make pthread_mutex_unlock follow them. Here the only pointer is in private
// memory: the list is empty and the word is the list's "pending operation", which the kernel treats like an entry.
#pragma once

#include <linux/futex.h>

#include <cstdint>

namespace mlrun::collect {

class OwnerMark {
 public:
  // Replaces the thread's robust list until destroyed, so only one may exist at a time, and the thread must not use
  // robust pthread mutexes. Requires: created and destroyed by the same thread; `word` stays mapped in between.
  explicit OwnerMark(uint32_t* word);
  ~OwnerMark();
  OwnerMark(const OwnerMark&) = delete;
  OwnerMark& operator=(const OwnerMark&) = delete;

 private:
  uint32_t* word_;
  robust_list_head head_{};
  robust_list_head* previous_ = nullptr;
};

}  // namespace mlrun::collect
