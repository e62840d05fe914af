// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 without a GPU: starts the injected library as CUDA's driver does, and hands work to the stand-in for
// libcupti that is in the process. MOCK_CUDA_VERSION: what the driver supports (13000).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "mock_cupti.h"

int cuDriverGetVersion(int *version) {
  const char *text = getenv("MOCK_CUDA_VERSION");
  *version = text ? atoi(text) : 13000;
  return 0;
}

int cuInit(unsigned flags) {
  static int initialised;
  const char *path = getenv("CUDA_INJECTION64_PATH");
  (void)flags;
  if (initialised++ || !path || !*path) return 0;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "mock driver: %s\n", dlerror());
    return 0;
  }
  int (*start)(void) = (int (*)(void))dlsym(library, "InitializeInjection");
  if (start) start();
  return 0;
}

static mock_do find_work(void) {
  static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};
  for (int i = 0; i < 2; i++) {
    void *cupti = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    if (cupti) return (mock_do)dlsym(cupti, "mock_cupti_work");
  }
  return NULL;
}

void mock_cuda_work(const struct mock_work *work) {
  static mock_do to;
  static int looked;
  if (!looked++) to = find_work();
  if (to) to(work);
}
