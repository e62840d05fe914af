// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 without a GPU: starts the injected library as CUDA's driver does, and hands work to the mock
// libcuptis in the process. MOCK_CUDA_VERSION: what the driver supports (13000).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// Passes the work to each libcupti in the process, as the driver does.
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

// The driver API for launching a kernel without libcudart (hardware/launches.c). Work completes at once.
enum { kInvalidValue = 1, kNotFound = 500 };

static int some_context, some_module, some_stream, some_function, some_graph;

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal ? kInvalidValue : 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &some_context;
  return device ? kInvalidValue : 0;
}
int cuCtxSetCurrent(void *context) { return context == &some_context ? 0 : kInvalidValue; }
int cuCtxGetCurrent(void **context) {
  *context = &some_context;
  return 0;
}
int cuCtxSynchronize(void) { return 0; }
int cuModuleLoadData(void **module, const void *image) {
  *module = &some_module;
  return image ? 0 : kInvalidValue;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = &some_function;
  return module == &some_module && name ? 0 : kInvalidValue;
}
int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  *stream = &some_stream;
  return 0;
}

static uint32_t captured;  // kernels of the graph that is being made
static int captures;

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **parameters,
                   void **extra) {
  (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
  (void)shared_bytes, (void)parameters, (void)extra;
  if (function != &some_function || stream != &some_stream) return kInvalidValue;
  const struct mock_work kernel = {.kernel = "nothing", .is_driver_call = 1, .stream = 7};
  if (captures)
    captured++;
  else
    mock_cuda_work(&kernel);
  return 0;
}

int cuStreamBeginCapture_v2(void *stream, int mode) {
  (void)mode;
  captures = 1;
  captured = 0;
  return stream == &some_stream ? 0 : kInvalidValue;
}
int cuStreamEndCapture(void *stream, void **graph) {
  captures = 0;
  *graph = &some_graph;
  return stream == &some_stream ? 0 : kInvalidValue;
}
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
  (void)flags;
  *executable = graph;
  return graph == &some_graph ? 0 : kInvalidValue;
}
int cuGraphLaunch(void *executable, void *stream) {
  const struct mock_work graph = {.kernel = "nothing", .is_driver_call = 1, .graph = 1, .nodes = captured, .stream = 7};
  if (executable != &some_graph || stream != &some_stream) return kInvalidValue;
  mock_cuda_work(&graph);
  return 0;
}

// Allocations are given from elsewhere, as CUDA's runtime is given other code than the library exports.
int cuGetProcAddress(const char *name, void **given, int version, uint64_t flags) {
  (void)version, (void)flags;
  void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  *given = strncmp(name, "cuMem", 5) ? (self ? dlsym(self, name) : NULL) : (void *)&some_function;
  return *given ? 0 : kNotFound;
}
