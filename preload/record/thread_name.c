// SPDX-License-Identifier: Apache-2.0
#include "preload/record/thread_name.h"

#include <pthread.h>
#include <string.h>

#include "preload/base/real_function.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/record/robust_list.h"
#include "preload/record/strings.h"

enum { kNameMaxBytes = 15 };

uint32_t thread_of_caller(void) { return this_thread.tid ? this_thread.tid : thread_number(); }

void put_thread_name(uint32_t tid, const char *given) {
  char name[kNameMaxBytes];
  size_t bytes, more;
  if (!tid || !stamp()) return;
  if (!copy_string_from_program(name, given, kNameMaxBytes, &bytes)) return;
  uint64_t id = string_prepare(name, bytes, &more);
  uint8_t lap;
  uint64_t *w = reserve((uint32_t)more + 2 * MLRUN_UNIT_BYTES, MLRUN_COMM, &lap);
  if (!w) return;
  if (more) string_write(w, lap, id, name, bytes);
  w += more / 8;
  w[1] = now_ticks();
  w[2] = 0;
  w[3] = id;
  publish(w, lap, 2, MLRUN_COMM, tid);
  if (more) string_emitted(id);
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name) {
  REAL(int, pthread_setname_np, pthread_t, const char *);
  int error = real(thread, name);
  if (!error) put_thread_name(thread_number_of((uintptr_t)thread), name);
  return error;
}
