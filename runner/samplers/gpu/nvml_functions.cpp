// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/nvml_functions.h"

namespace mlrun::gpu {

NvmlFunctions::NvmlFunctions(void* library) : library_(library) {
  find(init, {"nvmlInit_v2", "nvmlInit"});
  find(shutdown, {"nvmlShutdown"});
  find(error_string, {"nvmlErrorString"});
  find(driver_version, {"nvmlSystemGetDriverVersion"});
  find(count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find_device_functions();
  find_process_functions();
  find_instance_functions();
}

void NvmlFunctions::find_device_functions() {
  find(uuid, {"nvmlDeviceGetUUID"});
  find(name, {"nvmlDeviceGetName"});
  find(pci, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  find(memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  find(memory, {"nvmlDeviceGetMemoryInfo"});
  find(protected_memory, {"nvmlDeviceGetConfComputeProtectedMemoryUsage"});
  find(bar1, {"nvmlDeviceGetBAR1MemoryInfo"});
  find(utilization, {"nvmlDeviceGetUtilizationRates"});
  find(encoder, {"nvmlDeviceGetEncoderUtilization"});
  find(decoder, {"nvmlDeviceGetDecoderUtilization"});
  find(jpeg, {"nvmlDeviceGetJpgUtilization"});
  find(optical_flow, {"nvmlDeviceGetOfaUtilization"});
  find(power, {"nvmlDeviceGetPowerUsage"});
  find(energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(temperature, {"nvmlDeviceGetTemperature"});
  find(clock, {"nvmlDeviceGetClockInfo"});
  find(throttle, {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(violation, {"nvmlDeviceGetViolationStatus"});
  find(ecc, {"nvmlDeviceGetTotalEccErrors"});
  find(pcie_replays, {"nvmlDeviceGetPcieReplayCounter"});
  find(fan, {"nvmlDeviceGetFanSpeed"});
  find(performance_state, {"nvmlDeviceGetPerformanceState"});
  find(fields, {"nvmlDeviceGetFieldValues"});
  find(samples, {"nvmlDeviceGetSamples"});
}

void NvmlFunctions::find_process_functions() {
  find(process_details, {"nvmlDeviceGetRunningProcessDetailList"});
  find(compute, {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  find(graphics, {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2"});
  find(mps, {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2"});
  find(compute_v1, {"nvmlDeviceGetComputeRunningProcesses"});
  find(graphics_v1, {"nvmlDeviceGetGraphicsRunningProcesses"});
  find(mps_v1, {"nvmlDeviceGetMPSComputeRunningProcesses"});
  find(processes_utilization, {"nvmlDeviceGetProcessesUtilizationInfo"});
  find(process_utilization, {"nvmlDeviceGetProcessUtilization"});
}

void NvmlFunctions::find_instance_functions() {
  find(mig_mode, {"nvmlDeviceGetMigMode"});
  find(mig_count, {"nvmlDeviceGetMaxMigDeviceCount"});
  find(mig_handle, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  find(gpu_instance, {"nvmlDeviceGetGpuInstanceId"});
  find(compute_instance, {"nvmlDeviceGetComputeInstanceId"});
  find(gpm_support, {"nvmlGpmQueryDeviceSupport"});
  find(gpm_alloc, {"nvmlGpmSampleAlloc"});
  find(gpm_free, {"nvmlGpmSampleFree"});
  find(gpm_sample, {"nvmlGpmSampleGet"});
  find(gpm_mig_sample, {"nvmlGpmMigSampleGet"});
  find(gpm_metrics, {"nvmlGpmMetricsGet"});
}

}  // namespace mlrun::gpu
