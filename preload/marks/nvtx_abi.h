// SPDX-License-Identifier: Apache-2.0
// The part of NVTX's injection interface that is used, by our own declarations: how a program's copy of NVTX finds its
// handler, and the numbers of the functions that a handler may implement.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

// A table holds, by number, the address of the program's pointer to each function.
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
#define NVTX_PAYLOAD_STRUCTURED ((int32_t)0xDFBD0009)

struct nvtx_attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t colour_type;
  uint32_t colour;
  int32_t payload_type;  // enum mlrun_mark_payload has the same numbers
  int32_t reserved;      // with structured payloads: their number
  uint64_t payload;      // with structured payloads: address of the first struct nvtx_payload_data
  int32_t message_type;
  union {
    const char *ascii;
    const wchar_t *unicode;
    const struct nvtx_text *registered;
  } message;
};
_Static_assert(sizeof(struct nvtx_attributes) == 48, "nvtxEventAttributes_t");

// The payload extension: a program registers the layout of a structure once, and then passes structures by its number.
// The layouts below are those of all versions since NVTX 3.1 (NCCL 2.16).
enum { NVTX_MODULE_PAYLOAD = 2, NVTX_PAYLOAD_VERSION_FIRST = 0x0103, NVTX_PAYLOAD_VERSION_LAST = 0x0104 };

enum nvtx_payload_function {
  NVTX_PAYLOAD_SCHEMA_REGISTER = 0,
  NVTX_PAYLOAD_ENUM_REGISTER,
  NVTX_PAYLOAD_MARK,
  NVTX_PAYLOAD_RANGE_PUSH,
  NVTX_PAYLOAD_RANGE_POP,
  NVTX_PAYLOAD_RANGE_START,
  NVTX_PAYLOAD_RANGE_END
};

struct nvtx_module_segment {
  size_t segment_id, slots;
  intptr_t *functions;
};

struct nvtx_module {
  uint16_t nvtx_version, struct_size, module_id, version;
  size_t segment_count;
  const struct nvtx_module_segment *segments;
  intptr_t (*export_function)(uint32_t);
  const void *details;
};

struct nvtx_payload_data {
  uint64_t schema_id;
  size_t size;
  const void *payload;
};

struct nvtx_schema_entry {
  uint64_t flags, type;
  const char *name, *description;
  uint64_t detail, offset;
  const void *semantics, *reserved;
};

// Bits of field_mask; fields without their bit are not set.
enum {
  NVTX_SCHEMA_HAS_TYPE = 1 << 2,
  NVTX_SCHEMA_HAS_ENTRIES = 1 << 4,
  NVTX_SCHEMA_HAS_COUNT = 1 << 5,
  NVTX_SCHEMA_HAS_SIZE = 1 << 6,
  NVTX_SCHEMA_HAS_ALIGNMENT = 1 << 7,
  NVTX_SCHEMA_HAS_ID = 1 << 8,
  NVTX_ENUM_HAS_ENTRIES = 1 << 2,
  NVTX_ENUM_HAS_COUNT = 1 << 3,
  NVTX_ENUM_HAS_SIZE = 1 << 4,
  NVTX_ENUM_HAS_ID = 1 << 5
};
#define NVTX_FIRST_STATIC_SCHEMA  (1ull << 24)
#define NVTX_FIRST_DYNAMIC_SCHEMA (1ull << 32)

struct nvtx_schema {
  uint64_t field_mask;
  const char *name;
  uint64_t type, flags;
  const struct nvtx_schema_entry *entries;
  size_t count, static_size, pack_align;
  uint64_t schema_id;
};

struct nvtx_enum_entry {
  const char *name;
  uint64_t value;
  int8_t is_flag;
};

struct nvtx_enum {
  uint64_t field_mask;
  const char *name;
  const struct nvtx_enum_entry *entries;
  size_t count, size;
  uint64_t schema_id;
};
