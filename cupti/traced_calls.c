// SPDX-License-Identifier: Apache-2.0
#include "cupti/traced_calls.h"

#include <stdbool.h>
#include <string.h>

#include "cupti/session.h"

enum { kFunctionsMax = 2048, kDomains = 2 };

// Recorded calls of the driver: those whose names have one of these prefixes.
static const char *const kDriverCalls[] = {"cuLaunch",          "cuGraphLaunch",     "cuMemcpy",
                                           "cuMemset",          "cuMemAlloc",        "cuMemFree",
                                           "cuMemHostAlloc",    "cuMemHostRegister", "cuMemHostUnregister",
                                           "cuMemCreate",       "cuMemRelease",      "cuMemMap",
                                           "cuMemUnmap",        "cuCtxSynchronize",  "cuStreamSynchronize",
                                           "cuEventSynchronize"};
// Calls of the runtime that are not recorded: those whose names have one of these prefixes.
static const char *const kIdleCalls[] = {"cudaGetDevice_",
                                         "cudaGetDeviceCount",
                                         "cudaGetLastError",
                                         "cudaPeekAtLastError",
                                         "cudaStreamIsCapturing",
                                         "cudaStreamGetCaptureInfo",
                                         "cudaThreadExchangeStreamCaptureMode",
                                         "cudaDeviceGetAttribute",
                                         "cudaFuncGetAttributes",
                                         "cudaOccupancy"};

static const char *known_names[kDomains][kFunctionsMax];
static uint8_t left_out[kDomains][kFunctionsMax];

static const char *ask_name(uint32_t domain, uint32_t function) {
  const char *name = NULL;
  return session.cupti.callback_name(domain, function, &name) == CUPTI_OK ? name : NULL;
}

static bool begins_with_any(const char *name, const char *const *prefixes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return true;
  return false;
}

static bool is_wanted_of_driver(const char *name) {
  return begins_with_any(name, kDriverCalls, sizeof kDriverCalls / sizeof kDriverCalls[0]);
}
static bool is_idle(const char *name) {
  return begins_with_any(name, kIdleCalls, sizeof kIdleCalls / sizeof kIdleCalls[0]);
}

// A CUPTI before 12.5 cannot enable single calls of the driver: it delivers all of them, and is_traced_call() filters.
void choose_traced_calls(void) {
  if (!session.cupti.enable_driver_call) session.cupti.enable(CUPTI_DRIVER);
  for (uint32_t function = 1; function < kFunctionsMax; function++) {
    const char *driver = ask_name(CUPTI_DOMAIN_DRIVER, function), *runtime = ask_name(CUPTI_DOMAIN_RUNTIME, function);
    bool is_wanted = driver && is_wanted_of_driver(driver), is_unwanted = runtime && is_idle(runtime);
    left_out[CUPTI_DOMAIN_DRIVER - 1][function] = !is_wanted;
    left_out[CUPTI_DOMAIN_RUNTIME - 1][function] = is_unwanted;
    if (is_wanted && session.cupti.enable_driver_call) session.cupti.enable_driver_call(function, 1);
    if (is_unwanted && session.cupti.enable_runtime_call) session.cupti.enable_runtime_call(function, 0);
  }
}

// Enables the runtime calls again that we had disabled, before their kind goes off: the headers do not say that CUPTI
// resets them.
void leave_traced_calls(bool driver_is_kept) {
  for (uint32_t function = 1; session.cupti.enable_runtime_call && function < kFunctionsMax; function++)
    if (left_out[CUPTI_DOMAIN_RUNTIME - 1][function]) session.cupti.enable_runtime_call(function, 1);
  if (driver_is_kept) return;
  if (!session.cupti.enable_driver_call) {
    session.cupti.disable(CUPTI_DRIVER);
    return;
  }
  for (uint32_t function = 1; function < kFunctionsMax; function++)
    if (!left_out[CUPTI_DOMAIN_DRIVER - 1][function]) session.cupti.enable_driver_call(function, 0);
}

bool is_traced_call(uint32_t domain, uint32_t function) {
  return function >= kFunctionsMax || !left_out[domain - 1][function];
}

// Length of the name without a version suffix: without "_v7000" in "cudaLaunchKernel_v7000".
static size_t bare_bytes(const char *name) {
  size_t bytes = strlen(name), digits = bytes;
  while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9') digits--;
  return digits + 3 < bytes && digits > 2 && name[digits - 1] == 'v' && name[digits - 2] == '_' ? digits - 2 : bytes;
}

const char *traced_call_name(uint32_t domain, uint32_t function, size_t *bytes) {
  const char *name = NULL;
  *bytes = 0;
  if (function < kFunctionsMax) {
    const char **place = &known_names[domain - 1][function];
    name = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (!name) __atomic_store_n(place, name = ask_name(domain, function), __ATOMIC_RELAXED);
  }
  if (name) *bytes = bare_bytes(name);
  return name;
}
