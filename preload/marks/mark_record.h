// SPDX-License-Identifier: Apache-2.0
// How a mark is written: one record where a range begins, a short one where it ends; no state is kept here. So nothing
// has to be cleaned up when a thread ends, and a range that is open when the process is killed is in the trace.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/core/recorder.h"
#include "preload/record/strings.h"

#pragma GCC visibility push(hidden)

enum { kMarkTextMaxBytes = 1020, kMarkUnitText = MLRUN_UNIT_BYTES - 1, kMarkStructureMaxBytes = 240 };

struct mark_domain {
  uint64_t id;  // string id of the name; 0: the default domain
  uint32_t bytes;
  char name[116];
};

// A structure, and the definition of its layout (runner/events/record.h): a string that lives as long as the process.
struct mark_structure {
  uint64_t layout;  // string id; 0: the layout is unknown, and the structure has no bytes
  const char *layout_text;
  uint32_t layout_bytes;
  uint32_t bytes;  // at most kMarkStructureMaxBytes
  const void *at;
};

struct mark {
  uint32_t kind;    // MLRUN_MARK_PUSH, _INSTANT, _START; with a structure also _POP, _END
  uint32_t source;  // enum mlrun_mark_source
  const struct mark_domain *domain;
  const char *text;
  size_t bytes;
  uint64_t range;         // MLRUN_MARK_START
  uint32_t payload_type;  // enum mlrun_mark_payload
  uint32_t category;
  uint64_t payload;
  const struct mark_structure *structure;  // of MLRUN_PAYLOAD_STRUCTURE, else null
};

INLINE bool marks_are_recorded(void) { return control->streams & MLRUN_STREAM_MARKS; }

// The text in units of 15 bytes behind a tag byte. Requires: bytes > 0.
INLINE void put_mark_text(char *unit, const char *text, size_t bytes) {
  for (; bytes > kMarkUnitText; bytes -= kMarkUnitText, text += kMarkUnitText, unit += MLRUN_UNIT_BYTES) {
    unit[0] = 0;
    memcpy(unit + 1, text, kMarkUnitText);
  }
  ((uint64_t *)unit)[0] = ((uint64_t *)unit)[1] = 0;
  memcpy(unit + 1, text, bytes);
}

INLINE uint32_t mark_text_units(size_t bytes) { return (uint32_t)(bytes + kMarkUnitText - 1) / kMarkUnitText; }

// As put_mark(), with a structure (nvtx_payload.c).
void put_structured_mark(const struct mark *mark);

INLINE void put_mark(const struct mark *mark) {
  if (unlikely(mark->structure != NULL)) {
    put_structured_mark(mark);
    return;
  }
  uint64_t now = stamp();
  if (unlikely(!now)) return;
  size_t bytes = likely(mark->bytes <= kMarkTextMaxBytes) ? mark->bytes : kMarkTextMaxBytes, definition = 0;
  const struct mark_domain *domain = mark->domain;
  if (unlikely(domain->id && !string_is_emitted(domain->id))) string_prepare(domain->name, domain->bytes, &definition);
  bool has_payload = mark->payload_type | mark->category;
  uint32_t text_units = mark_text_units(bytes), units = 2 + has_payload + text_units;
  uint8_t lap;
  uint64_t *w = reserve((uint32_t)definition + units * MLRUN_UNIT_BYTES, mark->kind, &lap);
  if (unlikely(!w)) return;
  if (unlikely(definition)) {
    string_write(w, lap, domain->id, domain->name, domain->bytes);
    string_emitted(domain->id);
    w += definition / 8;
  }
  w[1] = now;
  w[2] = mark->range << 8;
  w[3] = domain->id;
  if (has_payload) {
    w[4] = (uint64_t)mark->category << 8 | (uint64_t)mark->payload_type << 40;
    w[5] = mark->payload;
  }
  if (text_units) put_mark_text((char *)(w + 4 + has_payload * 2), mark->text, bytes);
  publish(w, lap, units, mark->kind, (uint32_t)bytes | mark->source << 16 | (uint32_t)has_payload << 24);
}

// Ends the innermost range of the thread in `domain`.
INLINE void put_mark_pop(uint32_t source, const struct mark_domain *domain) {
  uint64_t now = stamp();
  if (unlikely(!now)) return;
  uint8_t lap;
  uint64_t *w = reserve(32, MLRUN_MARK_POP, &lap);
  if (unlikely(!w)) return;
  w[1] = now;
  w[2] = 0;
  w[3] = domain->id;
  publish(w, lap, 2, MLRUN_MARK_POP, source << 16);
}

// Ends the process's range of that number.
INLINE void put_mark_end(uint32_t source, uint64_t range) {
  uint64_t now = stamp();
  if (unlikely(!now)) return;
  uint8_t lap;
  uint64_t *w = reserve(32, MLRUN_MARK_END, &lap);
  if (unlikely(!w)) return;
  w[1] = now;
  w[2] = range << 8;
  w[3] = 0;
  publish(w, lap, 2, MLRUN_MARK_END, source << 16);
}

#pragma GCC visibility pop
