// SPDX-License-Identifier: Apache-2.0
#include "preload/marks/nvtx_payload.h"

#include <string.h>

#include "preload/record/kept_memory.h"
#include "runner/events/content_hash.h"

enum { kLayouts = 1024, kProbes = 64, kNameMaxBytes = 80, kMembersMax = 256, kStructuresMax = 16 };

// The layout of a structure, or the values of an enumeration that is a member of structures. text: its definition's lines.
struct layout {
  const struct mark_domain *domain;
  uint64_t id;
  uint64_t string;
  size_t size;  // static size, or size of the enumeration; 0: unknown
  bool is_enum;
  uint32_t bytes;
  char text[];
};

// Open addressing by domain and number. Entries are never removed; a new layout of a known number replaces the old one.
static struct layout *layouts[kLayouts];
static uint64_t numbers_given = NVTX_FIRST_DYNAMIC_SCHEMA;

static uint32_t place_of(const struct mark_domain *domain, uint64_t id) {
  return (uint32_t)(((id + (uintptr_t)domain) * 0x9e3779b97f4a7c15ull) >> 54);
}

static const struct layout *find(const struct mark_domain *domain, uint64_t id) {
  uint32_t place = place_of(domain, id);
  for (int probe = 0; probe < kProbes; probe++) {
    const struct layout *there = __atomic_load_n(&layouts[(place + (uint32_t)probe) % kLayouts], __ATOMIC_ACQUIRE);
    if (!there) return NULL;
    if (there->domain == domain && there->id == id) return there;
  }
  return NULL;
}

static bool enter(struct layout *layout) {
  uint32_t place = place_of(layout->domain, layout->id);
  for (int probe = 0; probe < kProbes; probe++) {
    struct layout **at = &layouts[(place + (uint32_t)probe) % kLayouts], *there = NULL;
    if (__atomic_compare_exchange_n(at, &there, layout, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return true;
    if (there->domain != layout->domain || there->id != layout->id) continue;
    __atomic_store_n(at, layout, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

// Text under construction; once it is too long it stays so.
struct writer {
  size_t bytes;
  bool too_long;
  char text[kStringMaxBytes];
};

static void put_bytes(struct writer *to, const char *text, size_t bytes) {
  to->too_long = to->too_long || bytes > sizeof to->text - to->bytes;
  if (to->too_long) return;
  memcpy(to->text + to->bytes, text, bytes);
  to->bytes += bytes;
}

static void put_number(struct writer *to, uint64_t number, char behind) {
  char digits[24], *first = digits + sizeof digits;
  *--first = behind;
  do *--first = (char)('0' + number % 10);
  while (number /= 10);
  put_bytes(to, first, (size_t)(digits + sizeof digits - first));
}

static void put_name(struct writer *to, const char *name) {
  size_t bytes = name ? strnlen(name, kNameMaxBytes) : 0;
  for (size_t i = 0; i < bytes; i++) put_bytes(to, (unsigned char)name[i] < ' ' ? "?" : name + i, 1);
  put_bytes(to, "\n", 1);
}

static bool is_known(const struct mark_domain *domain, uint64_t id, size_t size, bool is_enum,
                     const struct writer *text) {
  const struct layout *there = find(domain, id);
  return there && there->size == size && there->is_enum == is_enum && there->bytes == text->bytes &&
         memcmp(there->text, text->text, text->bytes) == 0;
}

// Kept memory is never freed, so a program that registers a layout at every call must be limited.
static struct layout *make_layout(const struct writer *text) {
  static uint32_t made;
  if (text->too_long || __atomic_load_n(&made, __ATOMIC_RELAXED) >= kLayouts) return NULL;
  __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
  return keep_memory(sizeof(struct layout) + text->bytes);
}

// The number assigned to the layout.
static uint64_t keep(const struct mark_domain *domain, uint64_t id, size_t size, bool is_enum,
                     const struct writer *text) {
  if (id != 0 && !text->too_long && is_known(domain, id, size, is_enum, text)) return id;
  struct layout *kept = make_layout(text);
  if (id == 0) id = __atomic_fetch_add(&numbers_given, 1, __ATOMIC_RELAXED);
  if (kept) {
    kept->domain = domain;
    kept->id = id;
    kept->size = size;
    kept->is_enum = is_enum;
    kept->bytes = (uint32_t)text->bytes;
    memcpy(kept->text, text->text, text->bytes);
    kept->string = mlrun_content_hash(kept->text, kept->bytes);
  }
  if (!kept || !enter(kept)) count_failure(MLRUN_FAIL_MARK_NAMES);
  return id;
}

static void put_member(struct writer *to, const struct mark_domain *domain, const struct nvtx_schema_entry *member) {
  const struct layout *values = member->type >= NVTX_FIRST_STATIC_SCHEMA ? find(domain, member->type) : NULL;
  if (values && !values->is_enum) values = NULL;
  put_bytes(to, "F ", 2);
  put_number(to, member->flags, ' ');
  put_number(to, member->type, ' ');
  put_number(to, member->detail, ' ');
  put_number(to, member->offset, ' ');
  put_number(to, values ? values->size : 0, ' ');
  put_name(to, member->name);
  if (values) put_bytes(to, values->text, values->bytes);
}

uint64_t nvtx_register_schema(const struct mark_domain *domain, const struct nvtx_schema *schema) {
  const uint64_t needed = NVTX_SCHEMA_HAS_TYPE | NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_COUNT;
  if (!schema || (schema->field_mask & needed) != needed || !schema->entries) return 0;
  const size_t size = schema->field_mask & NVTX_SCHEMA_HAS_SIZE ? schema->static_size : 0;
  struct writer text = {.too_long = schema->count > kMembersMax};
  put_number(&text, schema->type, ' ');
  put_number(&text, size, ' ');
  put_number(&text, schema->field_mask & NVTX_SCHEMA_HAS_ALIGNMENT ? schema->pack_align : 0, '\n');
  for (size_t i = 0; i < schema->count && !text.too_long; i++) put_member(&text, domain, &schema->entries[i]);
  return keep(domain, schema->field_mask & NVTX_SCHEMA_HAS_ID ? schema->schema_id : 0, size, false, &text);
}

uint64_t nvtx_register_enum(const struct mark_domain *domain, const struct nvtx_enum *values) {
  const uint64_t needed = NVTX_ENUM_HAS_ENTRIES | NVTX_ENUM_HAS_COUNT | NVTX_ENUM_HAS_SIZE;
  if (!values || (values->field_mask & needed) != needed || !values->entries) return 0;
  struct writer text = {.too_long = values->count > kMembersMax};
  for (size_t i = 0; i < values->count && !text.too_long; i++) {
    put_bytes(&text, "V ", 2);
    put_number(&text, values->entries[i].value, ' ');
    put_name(&text, values->entries[i].name);
  }
  return keep(domain, values->field_mask & NVTX_ENUM_HAS_ID ? values->schema_id : 0, values->size, true, &text);
}

// Entries with the size SIZE_MAX are skipped: it asks the handler to find the size, and only strings have it.
struct mark_structure nvtx_structure(const struct mark_domain *domain, const struct nvtx_payload_data *data,
                                     size_t count) {
  struct mark_structure found = {0};
  for (size_t i = 0; data && i < count && i < kStructuresMax; i++) {
    if (!data[i].payload || !data[i].size || data[i].size == SIZE_MAX) continue;
    const struct layout *layout = find(domain, data[i].schema_id);
    if (!layout || layout->is_enum) continue;
    size_t bytes = layout->size && layout->size < data[i].size ? layout->size : data[i].size;
    found.layout = layout->string;
    found.layout_text = layout->text;
    found.layout_bytes = layout->bytes;
    found.bytes = bytes < kMarkStructureMaxBytes ? (uint32_t)bytes : kMarkStructureMaxBytes;
    found.at = data[i].payload;
    return found;
  }
  return found;
}

// Writes the definitions of the domain and of the layout, if this process has not. Returns their end.
static uint64_t *define(const struct mark *mark, uint64_t *at, uint8_t lap, size_t domain_bytes, size_t layout_bytes) {
  const struct mark_structure *structure = mark->structure;
  if (domain_bytes) string_write(at, lap, mark->domain->id, mark->domain->name, mark->domain->bytes);
  if (domain_bytes) string_emitted(mark->domain->id);
  at += domain_bytes / 8;
  if (layout_bytes) string_write(at, lap, structure->layout, structure->layout_text, structure->layout_bytes);
  if (layout_bytes) string_emitted(structure->layout);
  return at + layout_bytes / 8;
}

void put_structured_mark(const struct mark *mark) {
  uint64_t now = stamp();
  if (!now) return;
  const struct mark_structure *structure = mark->structure;
  const struct mark_domain *domain = mark->domain;
  size_t bytes = mark->bytes <= kMarkTextMaxBytes ? mark->bytes : kMarkTextMaxBytes, of_domain = 0, of_layout = 0;
  if (domain->id && !string_is_emitted(domain->id)) string_prepare(domain->name, domain->bytes, &of_domain);
  if (structure->layout && !string_is_emitted(structure->layout))
    string_prepare(structure->layout_text, structure->layout_bytes, &of_layout);
  uint32_t data_units = mark_text_units(structure->bytes), units = 3 + data_units + mark_text_units(bytes);
  uint8_t lap;
  uint64_t *w = reserve((uint32_t)(of_domain + of_layout) + units * MLRUN_UNIT_BYTES, mark->kind, &lap);
  if (!w) return;
  w = define(mark, w, lap, of_domain, of_layout);
  w[1] = now;
  w[2] = mark->range << 8;
  w[3] = domain->id;
  w[4] = (uint64_t)mark->category << 8 | (uint64_t)MLRUN_PAYLOAD_STRUCTURE << 40 | (uint64_t)structure->bytes << 48;
  w[5] = structure->layout;
  if (data_units) put_mark_text((char *)(w + 6), structure->at, structure->bytes);
  if (bytes) put_mark_text((char *)(w + 6 + (size_t)data_units * 2), mark->text, bytes);
  publish(w, lap, units, mark->kind, (uint32_t)bytes | mark->source << 16 | 1u << 24);
}
