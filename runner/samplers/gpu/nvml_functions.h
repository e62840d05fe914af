// SPDX-License-Identifier: Apache-2.0
// The functions of NVML by name. A pointer is null if the driver lacks all versions of the function.
#pragma once

#include <dlfcn.h>

#include <initializer_list>

#include "runner/samplers/gpu/nvml_abi.h"

namespace mlrun::gpu {

struct NvmlFunctions {
  using Return = nvml::Return;
  using Device = nvml::Device;
  using GetUnsigned = Return(Device, unsigned*);
  using GetText = Return(Device, char*, unsigned);
  using GetEngine = Return(Device, unsigned* percent, unsigned* period_us);
  using GetList = Return(Device, unsigned* count, void* entries);

  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  const char* (*error_string)(Return) = nullptr;
  Return (*driver_version)(char*, unsigned) = nullptr;
  Return (*count)(unsigned*) = nullptr;
  Return (*handle)(unsigned, Device*) = nullptr;
  GetText *uuid = nullptr, *name = nullptr;
  Return (*pci)(Device, nvml::PciInfo*) = nullptr;
  Return (*memory_v2)(Device, nvml::MemoryV2*) = nullptr;
  Return (*memory)(Device, nvml::Memory*) = nullptr;
  Return (*protected_memory)(Device, nvml::Memory*) = nullptr;
  Return (*bar1)(Device, nvml::Bar1Memory*) = nullptr;
  Return (*utilization)(Device, nvml::Utilization*) = nullptr;
  GetEngine *encoder = nullptr, *decoder = nullptr, *jpeg = nullptr, *optical_flow = nullptr;
  GetUnsigned *power = nullptr, *pcie_replays = nullptr, *fan = nullptr, *performance_state = nullptr;
  Return (*energy)(Device, unsigned long long*) = nullptr;
  Return (*temperature)(Device, int sensor, unsigned*) = nullptr;
  Return (*clock)(Device, int type, unsigned*) = nullptr;
  Return (*throttle)(Device, unsigned long long*) = nullptr;
  Return (*violation)(Device, int policy, nvml::ViolationTime*) = nullptr;
  Return (*ecc)(Device, int kind, int counter, unsigned long long*) = nullptr;
  Return (*fields)(Device, int count, nvml::FieldValue*) = nullptr;
  Return (*samples)(Device, int type, unsigned long long last_seen_us, int* value_type, unsigned* count,
                    nvml::Sample*) = nullptr;

  Return (*process_details)(Device, nvml::ProcessDetailList*) = nullptr;
  GetList *compute = nullptr, *graphics = nullptr, *mps = nullptr;           // version 3 or 2 of the function
  GetList *compute_v1 = nullptr, *graphics_v1 = nullptr, *mps_v1 = nullptr;  // used if the driver has no later version
  Return (*processes_utilization)(Device, nvml::ProcessesUtilizationInfo*) = nullptr;
  Return (*process_utilization)(Device, nvml::ProcessUtilization*, unsigned*, unsigned long long) = nullptr;

  Return (*mig_mode)(Device, unsigned* now, unsigned* pending) = nullptr;
  GetUnsigned *mig_count = nullptr, *gpu_instance = nullptr, *compute_instance = nullptr;
  Return (*mig_handle)(Device, unsigned, Device*) = nullptr;

  Return (*gpm_support)(Device, nvml::GpmSupport*) = nullptr;
  Return (*gpm_alloc)(void**) = nullptr;
  Return (*gpm_free)(void*) = nullptr;
  Return (*gpm_sample)(Device, void*) = nullptr;
  Return (*gpm_mig_sample)(Device, unsigned gpu_instance, void*) = nullptr;
  Return (*gpm_metrics)(nvml::GpmMetrics*) = nullptr;

  explicit NvmlFunctions(void* library);

 private:
  template <typename Function>
  void find(Function*& function, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      function = reinterpret_cast<Function*>(::dlsym(library_, name));
      if (function) return;
    }
  }
  void find_device_functions();
  void find_process_functions();
  void find_instance_functions();

  void* library_;
};

}  // namespace mlrun::gpu
