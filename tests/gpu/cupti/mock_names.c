// SPDX-License-Identifier: Apache-2.0
// Mock libcupti: the calls that it has, by CUPTI's own numbers and names.
#include <stddef.h>
#include <stdint.h>

int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name);
int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name) {
  static const struct {
    uint32_t domain, function;
    const char *name;
  } names[] = {{2, 211, "cudaLaunchKernel_v7000"}, {2, 41, "cudaMemcpyAsync_v3020"},
               {2, 51, "cudaMemsetAsync_v3020"},   {2, 131, "cudaStreamSynchronize_v3020"},
               {2, 17, "cudaGetDevice_v3020"},     {1, 307, "cuLaunchKernel"},
               {1, 652, "cuLaunchKernelEx"},       {1, 1, "cuInit"},
               {2, 20, "cudaMalloc_v3020"},        {2, 22, "cudaFree_v3020"},
               {1, 243, "cuMemAlloc_v2"},          {1, 245, "cuMemFree_v2"},
               {2, 311, "cudaGraphLaunch_v10000"}, {1, 514, "cuGraphLaunch"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (names[i].domain != domain || names[i].function != function) continue;
    *name = names[i].name;
    return 0;
  }
  return 1;
}
