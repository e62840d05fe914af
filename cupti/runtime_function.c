// SPDX-License-Identifier: Apache-2.0
#include "cupti/runtime_function.h"

#include <stdbool.h>
#include <stddef.h>

#include "cupti/session.h"

static void *recall(const struct known_place *place, const void *returns_to, uint64_t closed) {
  uint32_t before = __atomic_load_n(&place->change, __ATOMIC_ACQUIRE);
  bool is_it = __atomic_load_n(&place->returns_to, __ATOMIC_RELAXED) == returns_to;
  bool is_fresh = __atomic_load_n(&place->closed, __ATOMIC_RELAXED) == closed;
  void *function = __atomic_load_n(&place->function, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  bool is_whole = !(before & 1) && __atomic_load_n(&place->change, __ATOMIC_RELAXED) == before;
  return is_it && is_fresh && is_whole ? function : NULL;
}

// Writes an entry of the cache. Does nothing if another thread is writing it.
static void keep(struct known_place *place, const void *returns_to, void *function, uint64_t closed) {
  uint32_t change = __atomic_load_n(&place->change, __ATOMIC_RELAXED);
  if (change & 1) return;
  if (!__atomic_compare_exchange_n(&place->change, &change, change + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&place->returns_to, returns_to, __ATOMIC_RELAXED);
  __atomic_store_n(&place->function, function, __ATOMIC_RELAXED);
  __atomic_store_n(&place->closed, closed, __ATOMIC_RELAXED);
  __atomic_store_n(&place->change, change + 2, __ATOMIC_RELEASE);
}

// A cached function is valid until a library is closed: the caller needs libcudart, which stays loaded as long as the
// caller does.
void *runtime_function(struct known_place *places, const char *name, struct linked_caller caller) {
  const struct mlrun_producer *producer = session_producer();
  if (!producer) return NULL;
  struct known_place *place = &places[(uintptr_t)caller.returns_to / 4 % kPlaces];
  uint64_t closed = (uint64_t)producer->libraries_closed() + 1;  // never 0, as in an entry that was never written
  void *function = recall(place, caller.returns_to, closed);
  if (function) return function;
  function = linked_function_behind("libcudart.so", name, caller);
  if (function) keep(place, caller.returns_to, function, closed);
  return function;
}
