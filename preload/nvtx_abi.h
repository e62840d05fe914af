// SPDX-License-Identifier: Apache-2.0
// The part of NVTX's injection interface that is used here, by our own declarations: how a program's copy of NVTX finds
// its handler, and the numbers of the functions that a handler may take over.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

// A table holds, by number, where the program keeps the pointer to each function.
typedef void (*nvtx_function)(void);
typedef nvtx_function **nvtx_table;

enum { NVTX_EXPORT_CALLBACKS = 1, NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

struct nvtx_callbacks {
  size_t struct_size;
  int (*module_functions)(int module, nvtx_table *table, unsigned *last);
};

typedef const void *(*nvtx_get_export_table)(uint32_t table);

enum nvtx_core {
  NVTX_MARK_EX = 1,
  NVTX_MARK_A,
  NVTX_MARK_W,
  NVTX_RANGE_START_EX,
  NVTX_RANGE_START_A,
  NVTX_RANGE_START_W,
  NVTX_RANGE_END,
  NVTX_RANGE_PUSH_EX,
  NVTX_RANGE_PUSH_A,
  NVTX_RANGE_PUSH_W,
  NVTX_RANGE_POP
};

enum nvtx_core2 {
  NVTX_DOMAIN_MARK_EX = 1,
  NVTX_DOMAIN_RANGE_START_EX,
  NVTX_DOMAIN_RANGE_END,
  NVTX_DOMAIN_RANGE_PUSH_EX,
  NVTX_DOMAIN_RANGE_POP,
  NVTX_DOMAIN_REGISTER_STRING_A = 10,
  NVTX_DOMAIN_REGISTER_STRING_W,
  NVTX_DOMAIN_CREATE_A,
  NVTX_DOMAIN_CREATE_W
};

enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_UNICODE = 2, NVTX_MESSAGE_REGISTERED = 3, NVTX_NO_TRACKING = -2 };

struct nvtx_attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t colour_type;
  uint32_t colour;
  int32_t payload_type;  // enum mlrun_mark_payload has the same numbers
  int32_t reserved;
  uint64_t payload;
  int32_t message_type;
  union {
    const char *ascii;
    const wchar_t *unicode;
    const struct nvtx_text *registered;
  } message;
};
_Static_assert(sizeof(struct nvtx_attributes) == 48, "nvtxEventAttributes_t");
