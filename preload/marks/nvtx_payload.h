// SPDX-License-Identifier: Apache-2.0
// Structured payloads of NVTX: registered layouts, and structures that refer to them. Structures are not decoded here:
// a layout becomes a string of the trace, a structure's bytes go into the record, and the merger joins the two.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "preload/marks/mark_record.h"
#include "preload/marks/nvtx_abi.h"

#pragma GCC visibility push(hidden)

// Register the layout of a structure or an enumeration. Return the number by which structures will refer to it; 0:
// refused. A number that was registered before means the new layout from then on.
uint64_t nvtx_register_schema(const struct mark_domain *domain, const struct nvtx_schema *schema);
uint64_t nvtx_register_enum(const struct mark_domain *domain, const struct nvtx_enum *values);

// The first of `count` structures with a known layout; else one without bytes. `domain` is null for the default one.
struct mark_structure nvtx_structure(const struct mark_domain *domain, const struct nvtx_payload_data *data,
                                     size_t count);

#pragma GCC visibility pop
