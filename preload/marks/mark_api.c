// SPDX-License-Identifier: Apache-2.0
// Marks that a program makes by mlrun's own functions (include/mlrun_mark.h).
#include "preload/marks/mark_record.h"

EXPORT void mlrun_mark_push(const char *name);
EXPORT void mlrun_mark_pop(void);
EXPORT void mlrun_mark_instant(const char *name);

static const struct mark_domain no_domain;

static void put(uint32_t kind, const char *name) {
  if (!marks_are_recorded() || !name) return;
  const struct mark mark = {.kind = kind,
                            .source = MLRUN_MARK_API,
                            .domain = &no_domain,
                            .text = name,
                            .bytes = strnlen(name, kMarkTextMaxBytes)};
  put_mark(&mark);
}

EXPORT void mlrun_mark_push(const char *name) { put(MLRUN_MARK_PUSH, name); }
EXPORT void mlrun_mark_instant(const char *name) { put(MLRUN_MARK_INSTANT, name); }
EXPORT void mlrun_mark_pop(void) {
  if (marks_are_recorded()) put_mark_pop(MLRUN_MARK_API, &no_domain);
}
