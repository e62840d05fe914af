// SPDX-License-Identifier: Apache-2.0
// The handler of NVTX: ranges and marks of PyTorch, NCCL and the program itself, without a GPU and without CUPTI. Every
// library of a program carries its own copy of NVTX. At its first call the copy loads the library that
// NVTX_INJECTION64_PATH names (set by mlrun) and asks it for functions. Depths of ranges are not counted here; callers get
// the same result as without a tool.
#include <stdbool.h>

#include "preload/marks/mark_record.h"
#include "preload/marks/nvtx_abi.h"
#include "preload/marks/nvtx_payload.h"
#include "preload/record/channel.h"
#include "preload/record/kept_memory.h"
#include "runner/events/content_hash.h"

enum { kDomains = 256 };

// A registered string: the program's handle for it. Null, if memory is exhausted: ranges with that handle have no name.
struct nvtx_text {
  uint32_t bytes;
  char text[];
};

static const struct mark_domain default_domain;
static struct mark_domain domains[kDomains];
static uint32_t domains_taken;
static uint64_t ranges_begun;

// UTF-8 of a wide string, cut at the end of the buffer.
static size_t narrow(const wchar_t *wide, char *out) {
  size_t bytes = 0;
  for (; wide && *wide && bytes + 4 <= kMarkTextMaxBytes; wide++) {
    uint32_t c = (uint32_t)*wide;
    if (c < 0x80) {
      out[bytes++] = (char)c;
    } else {
      int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      out[bytes++] = (char)((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | c >> 6 * more);
      while (more--) out[bytes++] = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
  }
  return bytes;
}

static const struct nvtx_text *keep_text(const char *text, size_t bytes) {
  if (bytes > kMarkTextMaxBytes) bytes = kMarkTextMaxBytes;
  struct nvtx_text *kept = keep_memory(sizeof *kept + bytes);
  if (!kept) {
    count_failure(MLRUN_FAIL_MARK_NAMES);
    return NULL;
  }
  kept->bytes = (uint32_t)bytes;
  memcpy(kept->text, text, bytes);
  return kept;
}

static const struct mark_domain *domain_of(const struct mark_domain *handle) {
  return handle ? handle : &default_domain;
}

static void put_text(uint32_t kind, const char *text, uint64_t range) {
  const struct mark mark = {.kind = kind,
                            .source = MLRUN_MARK_NVTX,
                            .domain = &default_domain,
                            .text = text,
                            .bytes = text ? strnlen(text, kMarkTextMaxBytes) : 0,
                            .range = range};
  put_mark(&mark);
}

static void put_wide(uint32_t kind, const wchar_t *wide, uint64_t range) {
  char text[kMarkTextMaxBytes];
  const struct mark mark = {.kind = kind,
                            .source = MLRUN_MARK_NVTX,
                            .domain = &default_domain,
                            .text = text,
                            .bytes = narrow(wide, text),
                            .range = range};
  put_mark(&mark);
}

static void put_attributes(uint32_t kind, const struct mark_domain *domain, const struct nvtx_attributes *from,
                           uint64_t range) {
  char text[kMarkTextMaxBytes];
  struct mark mark = {.kind = kind, .source = MLRUN_MARK_NVTX, .domain = domain_of(domain), .range = range};
  struct mark_structure structure;
  if (from && from->size >= sizeof *from) {
    mark.category = from->category;
    if (from->payload_type == NVTX_PAYLOAD_STRUCTURED) {
      const struct nvtx_payload_data *data = (const struct nvtx_payload_data *)(uintptr_t)from->payload;
      structure = nvtx_structure(domain, data, from->reserved > 0 ? (size_t)from->reserved : 0);
      mark.structure = &structure;
    } else {
      mark.payload_type = (uint32_t)from->payload_type & 0xff;
      mark.payload = from->payload;
    }
    if (from->message_type == NVTX_MESSAGE_ASCII && from->message.ascii) {
      mark.text = from->message.ascii;
      mark.bytes = strnlen(mark.text, kMarkTextMaxBytes);
    } else if (from->message_type == NVTX_MESSAGE_UNICODE) {
      mark.text = text;
      mark.bytes = narrow(from->message.unicode, text);
    } else if (from->message_type == NVTX_MESSAGE_REGISTERED && from->message.registered) {
      mark.text = from->message.registered->text;
      mark.bytes = from->message.registered->bytes;
    }
  }
  put_mark(&mark);
}

static uint64_t begin_range(void) { return __atomic_add_fetch(&ranges_begun, 1, __ATOMIC_RELAXED); }

static void mark_ex(const struct nvtx_attributes *a) { put_attributes(MLRUN_MARK_INSTANT, NULL, a, 0); }
static void mark_a(const char *text) { put_text(MLRUN_MARK_INSTANT, text, 0); }
static void mark_w(const wchar_t *text) { put_wide(MLRUN_MARK_INSTANT, text, 0); }
static uint64_t start_ex(const struct nvtx_attributes *a) {
  uint64_t range = begin_range();
  put_attributes(MLRUN_MARK_START, NULL, a, range);
  return range;
}
static uint64_t start_a(const char *text) {
  uint64_t range = begin_range();
  put_text(MLRUN_MARK_START, text, range);
  return range;
}
static uint64_t start_w(const wchar_t *text) {
  uint64_t range = begin_range();
  put_wide(MLRUN_MARK_START, text, range);
  return range;
}
static void range_end(uint64_t range) { put_mark_end(MLRUN_MARK_NVTX, range); }
static int push_ex(const struct nvtx_attributes *a) {
  put_attributes(MLRUN_MARK_PUSH, NULL, a, 0);
  return NVTX_NO_TRACKING;
}
static int push_a(const char *text) {
  put_text(MLRUN_MARK_PUSH, text, 0);
  return NVTX_NO_TRACKING;
}
static int push_w(const wchar_t *text) {
  put_wide(MLRUN_MARK_PUSH, text, 0);
  return NVTX_NO_TRACKING;
}
static int pop(void) {
  put_mark_pop(MLRUN_MARK_NVTX, &default_domain);
  return NVTX_NO_TRACKING;
}

static void domain_mark(const struct mark_domain *domain, const struct nvtx_attributes *a) {
  put_attributes(MLRUN_MARK_INSTANT, domain, a, 0);
}
static uint64_t domain_start(const struct mark_domain *domain, const struct nvtx_attributes *a) {
  uint64_t range = begin_range();
  put_attributes(MLRUN_MARK_START, domain, a, range);
  return range;
}
static void domain_end(const struct mark_domain *domain, uint64_t range) {
  (void)domain;
  range_end(range);
}
static int domain_push(const struct mark_domain *domain, const struct nvtx_attributes *a) {
  put_attributes(MLRUN_MARK_PUSH, domain, a, 0);
  return NVTX_NO_TRACKING;
}
static int domain_pop(const struct mark_domain *domain) {
  put_mark_pop(MLRUN_MARK_NVTX, domain_of(domain));
  return NVTX_NO_TRACKING;
}
static const struct nvtx_text *register_a(const struct mark_domain *domain, const char *text) {
  (void)domain;
  return text ? keep_text(text, strnlen(text, kMarkTextMaxBytes)) : NULL;
}
static const struct nvtx_text *register_w(const struct mark_domain *domain, const wchar_t *wide) {
  char text[kMarkTextMaxBytes];
  (void)domain;
  return keep_text(text, narrow(wide, text));
}

// The domain of that id, null: there is none yet.
static const struct mark_domain *find_domain(uint64_t id) {
  uint32_t count = __atomic_load_n(&domains_taken, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < count && i < kDomains; i++)
    if (__atomic_load_n(&domains[i].id, __ATOMIC_ACQUIRE) == id) return &domains[i];
  return NULL;
}

// Null, the default domain, if there are too many.
static const struct mark_domain *create(const char *name, size_t bytes) {
  if (!name || !bytes) return NULL;
  if (bytes > sizeof domains->name) bytes = sizeof domains->name;
  uint64_t id = mlrun_content_hash(name, bytes);
  const struct mark_domain *known = find_domain(id);
  if (known) return known;
  uint32_t number = __atomic_fetch_add(&domains_taken, 1, __ATOMIC_RELAXED);
  if (number >= kDomains) {
    count_failure(MLRUN_FAIL_MARK_NAMES);
    return NULL;
  }
  struct mark_domain *domain = &domains[number];
  domain->bytes = (uint32_t)bytes;
  memcpy(domain->name, name, bytes);
  __atomic_store_n(&domain->id, id, __ATOMIC_RELEASE);
  return domain;
}
static const struct mark_domain *create_a(const char *name) {
  return create(name, name ? strnlen(name, sizeof domains->name) : 0);
}
static const struct mark_domain *create_w(const wchar_t *wide) {
  char name[kMarkTextMaxBytes];
  return create(name, narrow(wide, name));
}

// Writes a mark that has only a payload and no name.
static void put_payload(uint32_t kind, const struct mark_domain *domain, const struct nvtx_payload_data *data,
                        size_t count, uint64_t range) {
  const struct mark_structure structure = nvtx_structure(domain, data, count);
  const struct mark mark = {
      .kind = kind, .source = MLRUN_MARK_NVTX, .domain = domain_of(domain), .range = range, .structure = &structure};
  put_mark(&mark);
}
static void payload_mark(const struct mark_domain *domain, const struct nvtx_payload_data *data, size_t count) {
  put_payload(MLRUN_MARK_INSTANT, domain, data, count, 0);
}
static int payload_push(const struct mark_domain *domain, const struct nvtx_payload_data *data, size_t count) {
  put_payload(MLRUN_MARK_PUSH, domain, data, count, 0);
  return NVTX_NO_TRACKING;
}
static int payload_pop(const struct mark_domain *domain, const struct nvtx_payload_data *data, size_t count) {
  put_payload(MLRUN_MARK_POP, domain, data, count, 0);
  return NVTX_NO_TRACKING;
}
static uint64_t payload_start(const struct mark_domain *domain, const struct nvtx_payload_data *data, size_t count) {
  uint64_t range = begin_range();
  put_payload(MLRUN_MARK_START, domain, data, count, range);
  return range;
}
static void payload_end(const struct mark_domain *domain, uint64_t range, const struct nvtx_payload_data *data,
                        size_t count) {
  put_payload(MLRUN_MARK_END, domain, data, count, range);
}

struct handler {
  unsigned number;
  nvtx_function function;
};
#define HANDLER(number, function) \
  { number, (nvtx_function)(void (*)(void))function }
static const struct handler core[] = {
    HANDLER(NVTX_MARK_EX, mark_ex),         HANDLER(NVTX_MARK_A, mark_a),         HANDLER(NVTX_MARK_W, mark_w),
    HANDLER(NVTX_RANGE_START_EX, start_ex), HANDLER(NVTX_RANGE_START_A, start_a), HANDLER(NVTX_RANGE_START_W, start_w),
    HANDLER(NVTX_RANGE_END, range_end),     HANDLER(NVTX_RANGE_PUSH_EX, push_ex), HANDLER(NVTX_RANGE_PUSH_A, push_a),
    HANDLER(NVTX_RANGE_PUSH_W, push_w),     HANDLER(NVTX_RANGE_POP, pop),
};
static const struct handler core2[] = {
    HANDLER(NVTX_DOMAIN_MARK_EX, domain_mark),
    HANDLER(NVTX_DOMAIN_RANGE_START_EX, domain_start),
    HANDLER(NVTX_DOMAIN_RANGE_END, domain_end),
    HANDLER(NVTX_DOMAIN_RANGE_PUSH_EX, domain_push),
    HANDLER(NVTX_DOMAIN_RANGE_POP, domain_pop),
    HANDLER(NVTX_DOMAIN_REGISTER_STRING_A, register_a),
    HANDLER(NVTX_DOMAIN_REGISTER_STRING_W, register_w),
    HANDLER(NVTX_DOMAIN_CREATE_A, create_a),
    HANDLER(NVTX_DOMAIN_CREATE_W, create_w),
};

static const struct handler payload[] = {
    HANDLER(NVTX_PAYLOAD_SCHEMA_REGISTER, nvtx_register_schema),
    HANDLER(NVTX_PAYLOAD_ENUM_REGISTER, nvtx_register_enum),
    HANDLER(NVTX_PAYLOAD_MARK, payload_mark),
    HANDLER(NVTX_PAYLOAD_RANGE_PUSH, payload_push),
    HANDLER(NVTX_PAYLOAD_RANGE_POP, payload_pop),
    HANDLER(NVTX_PAYLOAD_RANGE_START, payload_start),
    HANDLER(NVTX_PAYLOAD_RANGE_END, payload_end),
};

static bool take_over(const struct nvtx_callbacks *callbacks, int module, const struct handler *handlers,
                      size_t count) {
  nvtx_table table;
  unsigned last = 0;
  if (!callbacks->module_functions(module, &table, &last)) return false;
  for (size_t i = 0; i < count; i++)
    if (handlers[i].number <= last && table[handlers[i].number]) *table[handlers[i].number] = handlers[i].function;
  return true;
}

// Called by each copy of NVTX in the program. 0: no handler, its functions then do nothing.
EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table get_export_table);
EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table get_export_table) {
  if (!marks_are_recorded() || !recording_is_on()) return 0;
  const struct nvtx_callbacks *callbacks = get_export_table(NVTX_EXPORT_CALLBACKS);
  if (!callbacks || callbacks->struct_size < sizeof *callbacks) return 0;
  bool taken = take_over(callbacks, NVTX_MODULE_CORE, core, sizeof core / sizeof core[0]);
  return take_over(callbacks, NVTX_MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]) || taken;
}

// Called by each copy of NVTX that has extensions, once for each of them. 0: its functions then do nothing.
EXPORT int InitializeInjectionNvtxExtension(const struct nvtx_module *module);
EXPORT int InitializeInjectionNvtxExtension(const struct nvtx_module *module) {
  if (!marks_are_recorded() || !recording_is_on() || !module || module->struct_size < sizeof *module) return 0;
  if (module->module_id != NVTX_MODULE_PAYLOAD || module->version < NVTX_PAYLOAD_VERSION_FIRST ||
      module->version > NVTX_PAYLOAD_VERSION_LAST || module->segment_count == 0 || !module->segments)
    return 0;
  const struct nvtx_module_segment *slots = module->segments;
  for (size_t i = 0; i < sizeof payload / sizeof payload[0]; i++)
    if (payload[i].number < slots->slots) slots->functions[payload[i].number] = (intptr_t)payload[i].function;
  return 1;
}
