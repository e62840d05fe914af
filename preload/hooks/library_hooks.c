// SPDX-License-Identifier: Apache-2.0
// Unloading of libraries: the stack walker's data about their code must not outlive them. Loading needs no hook.
#include <dlfcn.h>

#include "preload/base/real_function.h"
#include "preload/core/recorder.h"
#include "preload/record/library_record.h"
#include "preload/record/stack_record.h"
#include "preload/unwind/code_modules.h"

EXPORT int dlclose(void *handle) {
  REAL(int, dlclose, void *);
  if (unlikely(!real)) return (int)missing_function();
  if (recording_system_calls_allowed()) libraries_write();
  int result = real(handle);
  __atomic_add_fetch(&closed_libraries, 1, __ATOMIC_RELEASE);
  if (stack_depth) code_modules_changed();
  return result;
}
