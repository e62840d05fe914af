// SPDX-License-Identifier: Apache-2.0
// Our own declarations of the part of NVML's binary interface that is used: the build needs no NVIDIA header. Sizes are
// asserted; where drivers differ, both forms are declared.
#pragma once

#include <cstdint>

namespace mlrun::gpu::nvml {

using Device = void*;
using Return = int;

enum : Return {
  kSuccess = 0,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
};

struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  uint64_t total, free, used;
};
struct MemoryV2 {
  unsigned version;
  uint64_t total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40);
inline constexpr unsigned kMemoryV2 = 40 | 2u << 24;

struct Bar1Memory {
  uint64_t total, free, used;
};
struct ViolationTime {
  uint64_t reference_us, violation_ns;
};

struct PciInfo {  // nvmlPciInfo_t, _v3
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

union Value {
  double real;
  unsigned ui;
  unsigned long ul;
  unsigned long long ull;
  long long sll;
  int si;
  unsigned short us;
};
enum ValueType : int { kDouble, kUnsigned, kUnsignedLong, kUnsignedLongLong, kSignedLongLong, kSigned, kUnsignedShort };

struct FieldValue {
  unsigned field, scope;
  int64_t timestamp_us, latency_us;
  int type;
  Return result;
  Value value;
};
static_assert(sizeof(FieldValue) == 40);
enum Field : unsigned {
  kFieldMemoryTemperature = 82,
  kFieldNvlinkTxKib = 138,  // data only, all links
  kFieldNvlinkRxKib = 139,
  kFieldPcieTxBytes = 197,
  kFieldPcieRxBytes = 198,
};
inline constexpr unsigned kAllLinks = ~0u;

struct Sample {  // nvmlSample_t, one of the driver's own samples; CLOCK_REALTIME
  uint64_t timestamp_us;
  Value value;
};
static_assert(sizeof(Sample) == 16);
enum SamplingType : int { kSamplePower = 0, kSampleGpu = 1, kSampleMemory = 2, kSampleSmClock = 5 };

struct ProcessUtilization {
  unsigned pid;
  uint64_t timestamp_us;
  unsigned sm, mem, enc, dec;
};
static_assert(sizeof(ProcessUtilization) == 32);

struct ProcessUtilizationInfo {
  uint64_t timestamp_us;
  unsigned pid, sm, mem, enc, dec, jpg, ofa;
};
static_assert(sizeof(ProcessUtilizationInfo) == 40);
struct ProcessesUtilizationInfo {
  unsigned version, count;
  uint64_t last_seen_us;
  ProcessUtilizationInfo* entries;
};
static_assert(sizeof(ProcessesUtilizationInfo) == 24);
inline constexpr unsigned kProcessesUtilizationV1 = 24 | 1u << 24;

// Entries of the lists of running processes: 16 bytes in the oldest form, 24 in the usual one, and 32 in the detail
// list and in the _v3 lists of 535 series drivers. Each form extends the shorter one.
struct ProcessDetail {
  unsigned pid;
  uint64_t used;
  unsigned gpu_instance, compute_instance;
  uint64_t used_protected;
};
static_assert(sizeof(ProcessDetail) == 32);
struct ProcessDetailList {
  unsigned version, mode, count;
  ProcessDetail* entries;
};
static_assert(sizeof(ProcessDetailList) == 24);
inline constexpr unsigned kProcessDetailListV1 = 24 | 1u << 24;
inline constexpr uint64_t kMemoryNotKnown = ~uint64_t{0};
inline constexpr unsigned kNoInstance = ~0u;

struct GpmSupport {
  unsigned version, supported;
};
struct GpmMetric {
  unsigned id;
  Return result;
  double value;
  const char *short_name, *long_name, *unit;
};
static_assert(sizeof(GpmMetric) == 40);
// Room for the array, whose length depends on the header that the driver was built with; no header comes near this.
inline constexpr unsigned kGpmMetricsMax = 1024;
struct GpmMetrics {
  unsigned version, count;
  void *sample1, *sample2;
  GpmMetric metrics[kGpmMetricsMax];
};
enum GpmId : unsigned {
  kGpmGraphics = 1,
  kGpmSmActive = 2,
  kGpmSmOccupancy = 3,
  kGpmTensor = 5,
  kGpmDram = 10,
};

enum ClockType : int { kClockSm = 1, kClockMemory = 2 };
enum : int { kTemperatureGpu = 0, kEccCorrected = 0, kEccUncorrected = 1, kEccVolatile = 0 };
enum : int { kViolationPower = 0, kViolationThermal = 1 };

}  // namespace mlrun::gpu::nvml
