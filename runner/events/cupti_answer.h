// SPDX-License-Identifier: Apache-2.0
// What CUPTI answers, as far as somebody can do something about it. tests/gpu/cupti/layout_test.c compares the numbers with
// NVIDIA's headers.
#pragma once

enum cupti_answer {
  CUPTI_OK = 0,
  CUPTI_MAX_LIMIT_REACHED = 12,
  CUPTI_NOT_COMPATIBLE = 14,
  CUPTI_NOT_INITIALIZED = 15,
  CUPTI_INVALID_KIND = 21,
  CUPTI_NOT_SUPPORTED = 27,
  CUPTI_VIRTUAL_GPU = 33,
  CUPTI_INSUFFICIENT_PRIVILEGES = 35,
  CUPTI_MULTIPLE_SUBSCRIBERS = 39,
  CUPTI_VIRTUAL_GPU_PRIVILEGES = 40,
  CUPTI_CONFIDENTIAL_COMPUTING = 41,
  CUPTI_MINING_PROCESSOR = 42,
  CUPTI_MIG = 43,
  CUPTI_SLI = 44,
  CUPTI_WSL = 45,
  CUPTI_UNKNOWN = 999
};
