// SPDX-License-Identifier: Apache-2.0
// The set of emitted ids: three tables of eight-way buckets, each much larger than the one before. A table is touched only
// if the id's bucket in the one before is full, so that a process with few names needs only the page of struct
// wiped_pages. Ids are never removed; in the last table a full bucket is overwritten.
#include "preload/record/strings.h"

#include <stdbool.h>
#include <string.h>

#include "preload/core/recorder.h"
#include "preload/record/channel.h"
#include "runner/events/content_hash.h"

enum { kTables = 3, kUnitText = MLRUN_UNIT_BYTES - 1, kReservationBytes = 16 << 10, kRecordBehindBytes = 512 };

_Static_assert((kLongStringMaxBytes / kUnitText + 8) * MLRUN_UNIT_BYTES + kRecordBehindBytes <= kReservationBytes,
               "a definition with its record is one reservation");

_Static_assert(sizeof(struct wiped_pages) == kStringBucketBytes, "the first table's buckets begin at a cache line");

HOT_CALL uint64_t *first_string_ids;

struct id_table {
  uint32_t first_bucket, buckets;
};  // in buckets; first_bucket: from the start of the wiped pages
static const struct id_table id_tables[kTables] = {
    {1, kStringFirstBuckets},
    {kStringPagesFirstBytes / kStringBucketBytes, (kStringPagesFewBytes - kStringPagesFirstBytes) / kStringBucketBytes},
    {kStringPagesFewBytes / kStringBucketBytes, (kStringPagesBytes - kStringPagesFewBytes) / kStringBucketBytes},
};

static int table_count(void) { return process.wiped_bytes >= kStringPagesBytes ? kTables : kTables - 1; }

static uint64_t *bucket_of(int table, uint64_t id) {
  const struct id_table *t = &id_tables[table];
  uint64_t bucket = t->first_bucket + ((id >> 32) * t->buckets >> 32);
  return (uint64_t *)((char *)process.wiped + bucket * kStringBucketBytes);
}

COLD bool string_is_in_later_tables(uint64_t id) {
  for (int table = 1; table < table_count(); table++) {
    const uint64_t *bucket = bucket_of(table, id);
    for (int way = 0; way < kStringWays; way++) {
      uint64_t there = __atomic_load_n(&bucket[way], __ATOMIC_RELAXED);
      if (there == id) return true;
      if (!there) return false;
    }
  }
  return false;
}

void string_emitted(uint64_t id) {
  for (int table = 0; table < table_count(); table++) {
    uint64_t *bucket = bucket_of(table, id);
    for (int way = 0; way < kStringWays; way++) {
      uint64_t there = 0;
      bool entered = __atomic_compare_exchange_n(&bucket[way], &there, id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
      if (entered || there == id) return;
    }
  }
  __atomic_store_n(&bucket_of(table_count() - 1, id)[id % kStringWays], id, __ATOMIC_RELAXED);
}

static size_t cut(size_t bytes, size_t most) { return bytes < most ? bytes : most; }
static size_t fragment_units(size_t bytes) { return 1 + (bytes + kUnitText - 1) / kUnitText; }

static size_t fragment_bytes(size_t rest) {
  return rest < MLRUN_STRING_FRAGMENT_BYTES ? rest : MLRUN_STRING_FRAGMENT_BYTES;
}

INLINE uint64_t prepare(const char *text, size_t bytes, size_t *record_bytes) {
  uint64_t id = mlrun_content_hash(text, bytes);
  *record_bytes = 0;
  if (string_is_emitted(id)) return id;
  size_t done = 0;
  do {
    size_t part = fragment_bytes(bytes - done);
    *record_bytes += fragment_units(part) * MLRUN_UNIT_BYTES;
    done += part;
  } while (done < bytes);
  return id;
}

// Units of 15 bytes behind a tag byte.
static void write_units(char *unit, const char *text, size_t bytes) {
  for (; bytes >= kUnitText; bytes -= kUnitText, text += kUnitText, unit += MLRUN_UNIT_BYTES) {
    unit[0] = 0;
    memcpy(unit + 1, text, kUnitText);
  }
  if (!bytes) return;
  memset(unit, 0, MLRUN_UNIT_BYTES);
  memcpy(unit + 1, text, bytes);
}

static void write_fragments(uint64_t *at, uint8_t lap, uint64_t id, const char *text, size_t bytes) {
  size_t done = 0;
  uint32_t fragment = 0;
  do {
    size_t part = fragment_bytes(bytes - done), units = fragment_units(part);
    bool last = done + part == bytes;
    at[1] = id;
    write_units((char *)(at + 2), text + done, part);
    publish(at, lap, (uint32_t)units, MLRUN_STRING, (uint32_t)part | fragment << 16 | (uint32_t)last << 24);
    done += part;
    fragment++;
    at += units * (MLRUN_UNIT_BYTES / 8);
  } while (done < bytes);
}

uint64_t string_prepare(const char *text, size_t bytes, size_t *record_bytes) {
  return prepare(text, cut(bytes, kStringMaxBytes), record_bytes);
}

void string_write(uint64_t *at, uint8_t lap, uint64_t id, const char *text, size_t bytes) {
  write_fragments(at, lap, id, text, cut(bytes, kStringMaxBytes));
}

COLD uint64_t long_string_prepare(const char *text, size_t bytes, size_t *record_bytes) {
  return prepare(text, cut(bytes, kLongStringMaxBytes), record_bytes);
}

COLD void long_string_write(uint64_t *at, uint8_t lap, uint64_t id, const char *text, size_t bytes) {
  write_fragments(at, lap, id, text, cut(bytes, kLongStringMaxBytes));
}
