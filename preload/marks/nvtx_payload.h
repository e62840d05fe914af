// SPDX-License-Identifier: Apache-2.0
// Structured payloads of NVTX: what the program has told of layouts, and the structures that it hands over by them.
// Nothing of a structure is understood here. Its layout becomes a string of the trace, its bytes go into the record, and
// the merger puts the two together.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "preload/marks/mark_record.h"
#include "preload/marks/nvtx_abi.h"

#pragma GCC visibility push(hidden)

// The number by which structures will be handed over; 0: refused. A number that is known already means the new layout.
uint64_t nvtx_register_schema(const struct mark_domain *domain, const struct nvtx_schema *schema);
uint64_t nvtx_register_enum(const struct mark_domain *domain, const struct nvtx_enum *values);

// The first of `count` structures whose layout is known; else one without bytes. `domain` is null for the default one.
struct mark_structure nvtx_structure(const struct mark_domain *domain, const struct nvtx_payload_data *data,
                                     size_t count);

#pragma GCC visibility pop
