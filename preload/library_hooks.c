// SPDX-License-Identifier: Apache-2.0
// Libraries that are unloaded: what stacks know of their code must not outlive them. Loading needs no hook for that.
#include <dlfcn.h>

#include "preload/code_modules.h"
#include "preload/library_record.h"
#include "preload/real_function.h"
#include "preload/recorder.h"
#include "preload/stack_record.h"

EXPORT int dlclose(void *handle) {
  REAL(int, dlclose, void *);
  if (unlikely(!real)) return (int)missing_function();
  if (recording_system_calls_allowed()) libraries_write();
  int result = real(handle);
  if (stack_depth) code_modules_changed();
  return result;
}
