// SPDX-License-Identifier: Apache-2.0
#include "preload/record/dropped_kind.h"

#include "preload/base/compiler.h"
#include "preload/core/call_kind.h"
#include "runner/events/call_class.h"

// The class of a call, from the table of hooked functions.
static enum mlrun_dropped dropped_call(uint32_t kind) {
  static const uint8_t classes[] = {
#define FUNCTION(number, name, class, ...) [number] = MLRUN_CLASS_##class,
#define HANDMADE(number, name, class)      [number] = MLRUN_CLASS_##class,
#define ROW(number, name, class)           [number] = MLRUN_CLASS_##class,
#include "runner/events/hooks.def"
  };
  uint32_t number = kind - MLRUN_CALL;
  if (number >= sizeof classes) return MLRUN_DROPPED_FILE_CALL;
  if (classes[number] == MLRUN_CLASS_WAIT) return MLRUN_DROPPED_WAIT;
  return classes[number] == MLRUN_CLASS_PROCESS ? MLRUN_DROPPED_PROCESS_CALL : MLRUN_DROPPED_FILE_CALL;
}

COLD enum mlrun_dropped dropped_kind(uint32_t kind) {
  if (kind >= MLRUN_CALL) return dropped_call(kind);
  if (kind == MLRUN_FREE) return MLRUN_DROPPED_FREE;
  if (kind >= MLRUN_MALLOC && kind < MLRUN_ALLOC_END) return MLRUN_DROPPED_ALLOCATION;
  if (kind >= MLRUN_MARK_PUSH && kind < MLRUN_MARKS_END) return MLRUN_DROPPED_MARK;
  if (kind >= MLRUN_GPU_API && kind <= MLRUN_GPU_NOTE) return MLRUN_DROPPED_GPU;
  return MLRUN_DROPPED_OTHER;
}
