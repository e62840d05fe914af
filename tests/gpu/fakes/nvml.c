// SPDX-License-Identifier: Apache-2.0
// A mock NVML with known values, with the exports of four driver versions (DRIVER = 440, 470, 535, 580); the tests load
// it as libnvidia-ml.so.1.
//
//   440  unversioned functions alone, 16-byte process entries
//   470  _v2 functions, 24-byte entries, divided GPUs (MIG)
//   535  _v3 functions with entries of 32 bytes, memory_v2, means of the GPU (GPM)
//   580  lists of process details, utilisation of processes with jpg and ofa, event reasons
//
// FAKE_NVML_GPUS: how many (2). FAKE_NVML_UUID: printf format of their UUIDs (a word, the GPU's number, the
// instance's). FAKE_NVML_MIG: GPU 1 is divided into two. FAKE_NVML_INIT: what nvmlInit returns, after
// FAKE_NVML_START_MS. FAKE_NVML_LOST: a file; while it is there, GPU 1 answers nothing and a new list lacks it.
// FAKE_NVML_SLOW_MS: how long a power query takes; FAKE_NVML_CALL_US: how long every query of a GPU takes.
// FAKE_NVML_SAMPLES, FAKE_NVML_CALLS: files that grow by a byte with each sample, with each query of a GPU.
// Counters grow by a known step with each query. The processes on a GPU are the children of the calling process that
// have libcuda mapped.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nvml_device.h"

static struct device gpus[kGpusMax], instances[2];

int setting(const char *name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }
static unsigned gpu_count(void) { return (unsigned)setting("FAKE_NVML_GPUS", 2); }

static void grow(const char *name) {
  const char *path = getenv(name);
  const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (fd < 0) return;
  if (write(fd, "x", 1) != 1) abort();
  close(fd);
}

void is_asked(void) {
  grow("FAKE_NVML_CALLS");
  const int slow_us = setting("FAKE_NVML_CALL_US", 0);
  if (slow_us) usleep((unsigned)slow_us);
}
int is_away(const struct device *device) {
  const char *file = getenv("FAKE_NVML_LOST");
  return file && device->index == 1 && access(file, F_OK) == 0;
}
int is_lost(const struct device *device) {
  is_asked();
  return is_away(device);
}

static int start(void) {
  for (unsigned i = 0; i < kGpusMax; i++) gpus[i].index = i;
  for (unsigned i = 0; i < 2; i++) instances[i] = (struct device){.index = 1, .gpu_instance = i + 1};
  usleep((unsigned)setting("FAKE_NVML_START_MS", 0) * 1000);
  return setting("FAKE_NVML_INIT", kSuccess);
}
EXPORT int V2(nvmlInit)(void) { return start(); }
EXPORT int V2(nvmlDeviceGetCount)(unsigned *count) {
  *count = gpu_count();
  return kSuccess;
}
EXPORT int nvmlShutdown(void) { return kSuccess; }
EXPORT const char *nvmlErrorString(int error) { return error == 9 ? "Driver Not Loaded" : "Some Error"; }
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size) {
  snprintf(text, size, "%d.01", DRIVER);
  return kSuccess;
}
EXPORT int V2(nvmlDeviceGetHandleByIndex)(unsigned index, struct device **device) {
  if (index >= gpu_count()) return 2;
  *device = &gpus[index];
  return is_lost(*device) ? kLost : kSuccess;
}
EXPORT int nvmlDeviceGetUUID(struct device *device, char *text, unsigned size) {
  if (is_lost(device)) return kLost;
  const char *form = getenv("FAKE_NVML_UUID") ? getenv("FAKE_NVML_UUID") : "%s-%04u-%u";
  snprintf(text, size, form, device->gpu_instance ? "MIG" : "GPU", device->index, device->gpu_instance);
  return kSuccess;
}
EXPORT int nvmlDeviceGetName(struct device *device, char *text, unsigned size) {
  if (is_lost(device)) return kLost;
  snprintf(text, size, "Fake %u", device->index);
  return kSuccess;
}

struct pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};
EXPORT int nvmlDeviceGetPciInfo(struct device *device, struct pci *pci) {
  if (is_lost(device)) return kLost;
  *pci = (struct pci){.domain = 1, .bus = 0x17 + device->index, .device = 2};
  return kSuccess;
}

static unsigned long long used_bytes(const struct device *device) {
  return (device->gpu_instance ? 100ull + device->gpu_instance : 1000ull + device->index) << 20;
}
EXPORT int nvmlDeviceGetMemoryInfo(struct device *device, unsigned long long *total_free_used) {
  if (is_lost(device)) return kLost;
  total_free_used[0] = 80ull << 30;
  total_free_used[1] = (70ull + device->index) << 30;
  total_free_used[2] = used_bytes(device) + (512 << 20);  // with what the driver keeps for itself
  return kSuccess;
}
#if DRIVER >= 535
struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
EXPORT int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory_v2 *memory) {
  if (is_lost(device)) return kLost;
  if (memory->version != (40 | 2 << 24)) return 25;
  memory->used = used_bytes(device);
  memory->free = (70ull + device->index) << 30;
  return kSuccess;
}
EXPORT int nvmlDeviceGetConfComputeProtectedMemoryUsage(struct device *device, unsigned long long *total_free_used) {
  if (is_lost(device)) return kLost;
  total_free_used[2] = (11ull + device->index) << 20;
  return device->gpu_instance ? kNotSupported : kSuccess;
}
#endif
EXPORT int nvmlDeviceGetBAR1MemoryInfo(struct device *device, unsigned long long *total_free_used) {
  if (is_lost(device)) return kLost;
  if (device->gpu_instance) return kNotSupported;
  total_free_used[2] = 3 << 20;
  return kSuccess;
}
EXPORT int nvmlDeviceGetUtilizationRates(struct device *device, unsigned *gpu_memory) {
  if (is_lost(device)) return kLost;
  if (device->gpu_instance) return kNotSupported;
  gpu_memory[0] = 60 + device->index;
  gpu_memory[1] = 20 + device->index;
  return kSuccess;
}
static int engine(unsigned *percent, unsigned *period_us, unsigned value) {
  *percent = value;
  *period_us = 167000;
  return kSuccess;
}
EXPORT int nvmlDeviceGetEncoderUtilization(struct device *d, unsigned *p, unsigned *us) {
  if (is_lost(d)) return kLost;
  return engine(p, us, 1 + d->index);
}
EXPORT int nvmlDeviceGetDecoderUtilization(struct device *d, unsigned *p, unsigned *us) {
  if (is_lost(d)) return kLost;
  return engine(p, us, 5 + d->index);
}
#if DRIVER >= 535
EXPORT int nvmlDeviceGetJpgUtilization(struct device *d, unsigned *p, unsigned *us) {
  if (is_lost(d)) return kLost;
  return engine(p, us, 7 + d->index);
}
EXPORT int nvmlDeviceGetOfaUtilization(struct device *d, unsigned *p, unsigned *us) {
  if (is_lost(d)) return kLost;
  return engine(p, us, 9 + d->index);
}
#endif
EXPORT int nvmlDeviceGetPowerUsage(struct device *device, unsigned *mw) {
  if (is_lost(device)) return kLost;
  if (device->index == 0) grow("FAKE_NVML_SAMPLES");
  const int slow_ms = setting("FAKE_NVML_SLOW_MS", 0);
  if (slow_ms) usleep((unsigned)slow_ms * 1000);
  *mw = 300000 + device->index * 1000;
  return kSuccess;
}
EXPORT int nvmlDeviceGetTotalEnergyConsumption(struct device *device, unsigned long long *mj) {
  if (is_lost(device)) return kLost;
  *mj = device->energy_mj += 500;
  return kSuccess;
}
EXPORT int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned *celsius) {
  if (is_lost(device)) return kLost;
  *celsius = 50 + device->index + (unsigned)sensor * 100;
  return kSuccess;
}
EXPORT int nvmlDeviceGetClockInfo(struct device *device, int type, unsigned *mhz) {
  if (is_lost(device)) return kLost;
  *mhz = (type == 2 ? 2600 : type == 1 ? 1980 : 1) + device->index;
  return kSuccess;
}
#if DRIVER >= 580
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(struct device *device, unsigned long long *reasons) {
#else
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(struct device *device, unsigned long long *reasons) {
#endif
  if (is_lost(device)) return kLost;
  *reasons = device->index == 0 ? 0x4 : 0x1;  // a power cap; idle
  return kSuccess;
}
EXPORT int nvmlDeviceGetViolationStatus(struct device *device, int policy, unsigned long long *reference_violation) {
  if (is_lost(device)) return kLost;
  if (policy == 0) device->power_ns += 7000;
  reference_violation[1] = policy == 0 ? device->power_ns : 0;
  return policy <= 1 ? kSuccess : kNotSupported;
}
EXPORT int nvmlDeviceGetTotalEccErrors(struct device *device, int kind, int counter, unsigned long long *errors) {
  if (is_lost(device)) return kLost;
  *errors = (unsigned)kind * 10 + (unsigned)counter * 100 + device->index;
  return kSuccess;
}
EXPORT int nvmlDeviceGetPcieReplayCounter(struct device *device, unsigned *count) {
  if (is_lost(device)) return kLost;
  *count = 2 + device->index;
  return kSuccess;
}
EXPORT int nvmlDeviceGetFanSpeed(struct device *device, unsigned *percent) {
  if (is_lost(device)) return kLost;
  *percent = 33;
  return device->index == 0 ? kSuccess : kNotSupported;
}
EXPORT int nvmlDeviceGetPerformanceState(struct device *device, unsigned *state) {
  if (is_lost(device)) return kLost;
  *state = device->index;
  return kSuccess;
}

struct field {
  unsigned id, scope;
  long long timestamp, latency;
  int type, result;
  unsigned long long value;
};
static int fill_field(struct device *device, struct field *field) {
  field->type = 3;
  switch (field->id) {
    case 82: field->type = 1, field->value = 61 + device->index; return kSuccess;
    case 197: field->value = device->tx_bytes += 1000; return kSuccess;
    case 198: field->value = device->rx_bytes += 2000; return kSuccess;
    case 138: field->value = device->link_kib += 3; return field->scope == ~0u ? kSuccess : 2;
    case 139: field->value = device->link_rx_kib += 5; return field->scope == ~0u ? kSuccess : 2;
    default: return kNotSupported;
  }
}
EXPORT int nvmlDeviceGetFieldValues(struct device *device, int count, struct field *fields) {
  if (is_lost(device)) return kLost;
  for (int i = 0; i < count; i++) fields[i].result = fill_field(device, &fields[i]);
  return kSuccess;
}

#if DRIVER >= 470
EXPORT int nvmlDeviceGetMigMode(struct device *device, unsigned *now, unsigned *pending) {
  if (is_lost(device)) return kLost;
  *now = *pending = device->index == 1 && setting("FAKE_NVML_MIG", 0);
  return kSuccess;
}
EXPORT int nvmlDeviceGetMaxMigDeviceCount(struct device *device, unsigned *count) {
  if (is_lost(device)) return kLost;
  *count = device->index == 1 ? 7 : 0;
  return kSuccess;
}
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(struct device *device, unsigned i, struct device **instance) {
  if (is_lost(device)) return kLost;
  if (i >= 2 || device->index != 1) return kNotFound;
  *instance = &instances[i];
  return kSuccess;
}
EXPORT int nvmlDeviceGetGpuInstanceId(struct device *device, unsigned *id) {
  if (is_lost(device)) return kLost;
  *id = device->gpu_instance;
  return kSuccess;
}
EXPORT int nvmlDeviceGetComputeInstanceId(struct device *device, unsigned *id) {
  if (is_lost(device)) return kLost;
  (void)device;
  *id = 0;
  return kSuccess;
}
#endif

#if DRIVER >= 535
// A sample remembers which instance it was taken of.
struct gpm_metric {
  unsigned id;
  int result;
  double value;
  const char *names[3];
};
struct gpm {
  unsigned version, count;
  unsigned **before, **now;
  struct gpm_metric metrics[];
};
EXPORT int nvmlGpmQueryDeviceSupport(struct device *device, unsigned *version_supported) {
  if (is_lost(device)) return kLost;
  (void)device;
  version_supported[1] = 1;
  return kSuccess;
}
EXPORT int nvmlGpmSampleAlloc(unsigned **sample) { return (*sample = calloc(1, sizeof **sample)) ? kSuccess : 20; }
EXPORT int nvmlGpmSampleFree(unsigned *sample) {
  free(sample);
  return kSuccess;
}
EXPORT int nvmlGpmSampleGet(struct device *device, unsigned *sample) {
  if (is_lost(device)) return kLost;
  if (device->gpu_instance) return kNotSupported;
  *sample = 1000 + device->index;
  return kSuccess;
}
EXPORT int nvmlGpmMigSampleGet(struct device *device, unsigned gpu_instance, unsigned *sample) {
  if (is_lost(device)) return kLost;
  *sample = 2000 + device->index * 10 + gpu_instance;
  return kSuccess;
}
EXPORT int nvmlGpmMetricsGet(struct gpm *about) {
  is_asked();
  const unsigned of = *(unsigned *)about->now;
  if (of == 0 || *(unsigned *)about->before != of) return 2;
  for (unsigned i = 0; i < about->count; i++) {
    struct gpm_metric *metric = &about->metrics[i];
    metric->result = metric->id == 5 ? kNotSupported : kSuccess;  // no tensor cores
    metric->value = metric->id + (of % 1000) / 100.0;
  }
  return kSuccess;
}
#endif
