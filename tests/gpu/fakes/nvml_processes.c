// SPDX-License-Identifier: Apache-2.0
// The processes on a GPU, and the samples of each: the children of the calling process that have libcuda mapped.
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "nvml_device.h"

static int has_libcuda(unsigned pid) {
  char path[64], line[4096];
  snprintf(path, sizeof path, "/proc/%u/maps", pid);
  FILE *file = fopen(path, "r");
  int found = 0;
  while (file && !found && fgets(line, sizeof line, file)) found = strstr(line, "/libcuda.so") != NULL;
  if (file) fclose(file);
  return found;
}

// Processes: GPU i holds the asker's children; each uses (200 + i) MiB and computes, on GPU 0 it draws as well.
static unsigned children(unsigned *pids, unsigned room) {
  DIR *tasks = opendir("/proc/self/task");
  unsigned count = 0;
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/children", entry->d_name);
    FILE *file = fopen(path, "r");
    while (file && count < room && fscanf(file, "%u", &pids[count]) == 1) count += has_libcuda(pids[count]) ? 1u : 0u;
    if (file) fclose(file);
  }
  if (tasks) closedir(tasks);
  return count;
}

struct process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
  unsigned long long used_protected;
};
static int list(struct device *device, unsigned *count, char *entries, size_t entry_bytes) {
  if (is_away(device)) return kLost;
  unsigned pids[64];
  const unsigned found = children(pids, 64);
  if (*count < found) return kInsufficientSize;
  for (unsigned i = 0; i < found; i++) {
    const int divided = setting("FAKE_NVML_MIG", 0) && device->index == 1;
    const struct process process = {pids[i], (200ull + device->index) << 20, divided ? 2 : ~0u, divided ? 0 : ~0u, 77};
    memcpy(entries + i * entry_bytes, &process, entry_bytes);
  }
  *count = found;
  return kSuccess;
}
static int graphics(struct device *device, unsigned *count, char *entries, size_t entry_bytes) {
  if (device->index == 0) return list(device, count, entries, entry_bytes);
  *count = 0;
  return kSuccess;
}
// Processes of GPU 1 are clients of an MPS server as well.
static int through_mps(struct device *device, unsigned *count, char *entries, size_t entry_bytes) {
  if (device->index == 1) return list(device, count, entries, entry_bytes);
  *count = 0;
  return kSuccess;
}
#if DRIVER < 580
#if DRIVER >= 535
#define LIST(name) name##_v3
#else
#define LIST(name) V2(name)
#endif
enum { kEntryBytes = DRIVER >= 535 ? 32 : DRIVER >= 470 ? 24 : 16 };
EXPORT int LIST(nvmlDeviceGetComputeRunningProcesses)(struct device *d, unsigned *n, char *e) {
  is_asked();
  return list(d, n, e, kEntryBytes);
}
EXPORT int LIST(nvmlDeviceGetGraphicsRunningProcesses)(struct device *d, unsigned *n, char *e) {
  if (is_lost(d)) return kLost;
  return graphics(d, n, e, kEntryBytes);
}
EXPORT int LIST(nvmlDeviceGetMPSComputeRunningProcesses)(struct device *d, unsigned *n, char *e) {
  if (is_lost(d)) return kLost;
  return through_mps(d, n, e, kEntryBytes);
}
#else
struct details {
  unsigned version, mode, count;
  char *entries;
};
EXPORT int nvmlDeviceGetRunningProcessDetailList(struct device *device, struct details *about) {
  if (is_lost(device)) return kLost;
  if (about->version != (24 | 1 << 24)) return 25;
  if (about->mode == 1) return graphics(device, &about->count, about->entries, sizeof(struct process));
  if (about->mode == 0) return list(device, &about->count, about->entries, sizeof(struct process));
  return through_mps(device, &about->count, about->entries, sizeof(struct process));
}
#endif

// Samples of processes: one each 100 ms; those of GPU 1 appear half a second late. Three entries are no samples.
struct sample {
  unsigned long long us;
  unsigned pid, sm, mem, enc, dec, jpg, ofa;
};
static unsigned samples(const struct device *device, unsigned long long last_seen_us, struct sample *out,
                        unsigned room) {
  unsigned pids[8], count = 0;
  const unsigned found = children(pids, 8);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const unsigned long long step = 100000, late = device->index == 1 ? 500000 : 0;
  const unsigned long long now_us = (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
  for (unsigned long long us = (last_seen_us / step + 1) * step; us <= now_us - late; us += step) {
    for (unsigned i = 0; i < found && count + 3 < room; i++) {
      out[count++] = (struct sample){us, pids[i], 30 + device->index, 10 + device->index, 2, 3, 4, 5};
    }
  }
  if (count == 0 || count + 3 > room) return count;
  out[count++] = (struct sample){now_us, 0, 99, 99, 0, 0, 0, 0};
  out[count++] = (struct sample){now_us, pids[0], 4000000, 7, 0, 0, 0, 0};
  out[count++] = (struct sample){last_seen_us, pids[0], 99, 99, 0, 0, 0, 0};
  return count;
}
#if DRIVER >= 580
struct utilization_info {
  unsigned version, count;
  unsigned long long last_seen_us;
  struct sample *entries;
};
EXPORT int nvmlDeviceGetProcessesUtilizationInfo(struct device *device, struct utilization_info *about) {
  if (is_lost(device)) return kLost;
  if (about->version != (24 | 1 << 24)) return 25;
  about->count = samples(device, about->last_seen_us, about->entries, about->count);
  return about->count ? kSuccess : kNotFound;
}
#else
struct old_sample {
  unsigned pid;
  unsigned long long us;
  unsigned sm, mem, enc, dec;
};
EXPORT int nvmlDeviceGetProcessUtilization(struct device *device, struct old_sample *out, unsigned *count,
                                           unsigned long long last_seen_us) {
  if (is_lost(device)) return kLost;
  struct sample found[512];
  const unsigned n = samples(device, last_seen_us, found, 512);
  if (n > *count) return kInsufficientSize;
  for (unsigned i = 0; i < n; i++) {
    const struct sample *s = &found[i];
    out[i] = (struct old_sample){s->pid, s->us, s->sm, s->mem, s->enc, s->dec};
  }
  *count = n;
  return n ? kSuccess : kNotFound;
}
#endif
