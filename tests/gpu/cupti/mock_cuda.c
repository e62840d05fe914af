// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 without a GPU: starts the injected library as CUDA's driver does, and hands work to the stand-ins for
// libcupti that are in the process. MOCK_CUDA_VERSION: what the driver supports (13000).
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

// Of each libcupti that is in the process; the driver knows all of them.
void mock_cuda_work(const struct mock_work *work) {
  static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};
  static mock_do to[2];
  static int looked;
  for (int i = 0; i < 2 && !looked; i++) {
    void *cupti = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    if (cupti) to[i] = (mock_do)dlsym(cupti, "mock_cupti_work");
  }
  looked = 1;
  for (int i = 0; i < 2; i++)
    if (to[i]) to[i](work);
}
