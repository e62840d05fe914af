// SPDX-License-Identifier: Apache-2.0
// Posts: calls that end waits of other threads. They leave no record; the waiter's record has the poster (posts.h). Each
// post is noted before the real call, because the object may be freed during it, and each hook ends in a jump to the real
// function. The hooks are async-signal-safe as far as libc's functions are: sem_post is.
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "preload/base/old_version.h"
#include "preload/base/real_function.h"
#include "preload/record/posts.h"

EXPORT int sem_post(sem_t *semaphore) {
  REAL(int, sem_post, sem_t *);
  if (unlikely(!real)) return (int)missing_function();
  note_post(semaphore);
  return real(semaphore);
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition) {
  REAL(int, pthread_cond_signal, pthread_cond_t *);
  note_post(condition);
  return real(condition);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition) {
  REAL(int, pthread_cond_broadcast, pthread_cond_t *);
  note_post(condition);
  return real(condition);
}

// Before glibc 2.3.2 a pthread_cond_t was a pointer to a condition that libc made; waits on it pass the same address.
OLD_VERSION(int, pthread_cond_signal, "GLIBC_2.2.5", (pthread_cond_t * condition)) {
  REAL_OLD(int, pthread_cond_signal, "GLIBC_2.2.5", pthread_cond_t *);
  note_post(condition);
  return real(condition);
}

OLD_VERSION(int, pthread_cond_broadcast, "GLIBC_2.2.5", (pthread_cond_t * condition)) {
  REAL_OLD(int, pthread_cond_broadcast, "GLIBC_2.2.5", pthread_cond_t *);
  note_post(condition);
  return real(condition);
}

EXPORT int cnd_signal(cnd_t *condition) {
  REAL(int, cnd_signal, cnd_t *);
  if (unlikely(!real)) return thrd_error;
  note_post(condition);
  return real(condition);
}

EXPORT int cnd_broadcast(cnd_t *condition) {
  REAL(int, cnd_broadcast, cnd_t *);
  if (unlikely(!real)) return thrd_error;
  note_post(condition);
  return real(condition);
}
