// SPDX-License-Identifier: Apache-2.0
#include "preload/record/module_record.h"

#include <string.h>

#include "preload/base/readable.h"
#include "preload/core/recorder.h"
#include "preload/record/process_record.h"
#include "preload/record/strings.h"

enum { kUnits = 6 };

// Length of a name in the dynamic linker's memory, which may have been freed. 0: unreadable or empty.
static size_t name_length(uint64_t name) {
  if (!recording_system_calls_allowed()) return 0;
  size_t bytes = 0;
  while (bytes < kStringMaxBytes) {
    uint64_t at = name + bytes, to_page_end = kReadablePageBytes - at % kReadablePageBytes;
    if (!is_readable_word(at & ~7ull)) return 0;
    size_t part = strnlen((const char *)at, to_page_end);
    bytes += part;
    if (part < to_page_end) return bytes;
  }
  return 0;
}

static void fill(uint64_t *w, const struct code_module *module, uint64_t path) {
  uint64_t id[kBuildIdMaxBytes / 8];
  memcpy(id, module->build_id, sizeof id);
  w[1] = now_ticks();
  w[2] = module->start << 8;
  w[3] = module->end;
  w[4] = module->bias << 8;
  w[5] = path;
  w[6] = module->file_offset << 8 | (uint64_t)module->build_id_bytes << 56;
  w[7] = id[0];
  w[8] = 0;
  w[9] = id[1];
  w[10] = 0;
  w[11] = id[2];
}

COLD bool write_module(const struct code_module *module, const char *name, size_t bytes) {
  size_t more = 0;
  uint64_t path = bytes ? string_prepare(name, bytes, &more) : 0;
  uint8_t lap;
  uint64_t *w = reserve((uint32_t)more + kUnits * MLRUN_UNIT_BYTES, MLRUN_MODULE, &lap);
  if (!w) return false;
  if (more) {
    string_write(w, lap, path, name, bytes);
    string_emitted(path);
    w += more / 8;
  }
  fill(w, module, path);
  publish(w, lap, kUnits, MLRUN_MODULE, module->number);
  return true;
}

const char *name_of_module(const struct code_module *module, size_t *bytes) {
  *bytes = name_length(module->name);
  return *bytes ? (const char *)module->name
                : process_exe(bytes);  // the dynamic linker has no name for the program itself
}

COLD void announce_module(struct announced_modules *announced, const struct code_module *module) {
  uint64_t *word = &announced->bits[module->number / 64], bit = 1ull << module->number % 64;
  if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit) return;
  size_t bytes;
  const char *name = name_of_module(module, &bytes);
  if (write_module(module, name, bytes)) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}
