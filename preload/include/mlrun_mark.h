/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges and points in time that a program puts into its trace. Run without mlrun, they do nothing.
 *
 *   #include <mlrun_mark.h>
 *   mlrun_mark_push("epoch 1");  ...  mlrun_mark_pop();
 *   mlrun_mark_instant("checkpoint written");
 *
 * Nothing has to be linked (before glibc 2.34: -ldl): functions of the same names, exported by the library in a traced
 * process, are looked up at the first call. Ranges of a thread nest; a name is cut at 1020 bytes. */
#pragma once

#include <dlfcn.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MLRUN_MARK_FUNCTIONS = 3 };

/* The address of a function by its number, null: not traced. */
static inline void *mlrun_mark_function(int which) {
  static const char *const names[MLRUN_MARK_FUNCTIONS] = {"mlrun_mark_push", "mlrun_mark_pop", "mlrun_mark_instant"};
  static void *functions[MLRUN_MARK_FUNCTIONS];
  static int looked;
  if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
    for (int i = 0; i < MLRUN_MARK_FUNCTIONS; i++) {
      __atomic_store_n(&functions[i], dlsym((void *)0 /* RTLD_DEFAULT */, names[i]), __ATOMIC_RELAXED);
    }
    __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&functions[which], __ATOMIC_RELAXED);
}

static inline void mlrun_mark_push(const char *name) {
  void (*push)(const char *);
  *(void **)(&push) = mlrun_mark_function(0);
  if (push) push(name);
}
static inline void mlrun_mark_pop(void) {
  void (*pop)(void);
  *(void **)(&pop) = mlrun_mark_function(1);
  if (pop) pop();
}
static inline void mlrun_mark_instant(const char *name) {
  void (*instant)(const char *);
  *(void **)(&instant) = mlrun_mark_function(2);
  if (instant) instant(name);
}

#ifdef __cplusplus
}
#endif
