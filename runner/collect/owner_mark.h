// SPDX-License-Identifier: Apache-2.0
// Marks a word of the arena as held by this thread, so that the kernel sets FUTEX_OWNER_DIED in it when the thread
// dies, however it dies. That is what a robust mutex does; but a pthread mutex keeps list pointers beside its lock, and
// whoever can write to the arena could make pthread_mutex_unlock follow them. Here the only pointer is in our own
// memory: the list is empty and the word is its "pending operation", which the kernel treats like an entry.
#pragma once

#include <linux/futex.h>

#include <cstdint>

namespace mlrun::collect {

class OwnerMark {
 public:
  // Takes the place of the thread's robust list until it is destroyed, so there is one at a time and no robust pthread
  // mutex beside it. Requires: created and destroyed by the same thread; `word` stays mapped in between.
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
