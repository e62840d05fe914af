// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/working_directory.h"

#include "preload/base/raw_syscall.h"
#include "preload/base/scratch.h"
#include "preload/record/strings.h"

static uint64_t current;    // string id; 0: unknown
static uint32_t asked_at;   // control->renames before the kernel was asked
static uint32_t unsettled;  // calls in progress that change it; never 0 again after unshare, or a jump out of one

void forget_working_directory(void) {
  if (!in_vfork_child()) __atomic_store_n(&current, 0, __ATOMIC_RELAXED);
}

INLINE uint64_t current_id(void) {
  uint64_t id = __atomic_load_n(&current, __ATOMIC_RELAXED);
  return asked_at == control->renames ? id : 0;
}

uint64_t known_working_directory(void) {
  uint64_t id = current_id();
  return id && !unsettled && string_is_emitted(id) ? id : 0;
}

void working_directory_changes(bool really) {
  if (really && !in_vfork_child()) __atomic_add_fetch(&unsettled, 1, __ATOMIC_RELAXED);
}

void working_directory_settles(bool really) {
  if (really && !in_vfork_child()) __atomic_sub_fetch(&unsettled, 1, __ATOMIC_RELAXED);
  forget_working_directory();
}

struct text text_of_working_directory(void) {
  bool settled = !__atomic_load_n(&unsettled, __ATOMIC_RELAXED);
  struct text text = {.id = settled ? current_id() : 0};
  if ((text.id && string_is_emitted(text.id)) || !recording_system_calls_allowed()) return text;
  if (!(text.page = scratch_take())) return text;
  uint32_t renames = __atomic_load_n(&control->renames, __ATOMIC_RELAXED);
  long bytes = raw_syscall2(SYS_getcwd, (long)text.page, kScratchBytes);  // with the 0 at its end
  if (bytes <= 1) return text;
  text.at = text.page;
  text.bytes = (size_t)bytes - 1;
  text.id = string_prepare(text.at, text.bytes, &text.definition_bytes);
  __atomic_store_n(&current, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&asked_at, renames, __ATOMIC_RELAXED);
  __atomic_store_n(&current, text.id, __ATOMIC_RELAXED);
  return text;
}

void begin_move_call(struct move_call *move) {
  begin_path_call(&move->path);
  if (!move->path.call.start) return;
  move->before = text_of_working_directory();
  move->path.directory = &move->before;
  move->path.call.start = now_ticks();
}

void end_move_call(struct move_call *move, int result) {
  if (result == 0) forget_working_directory();
  end_path_call(&move->path, result);
  text_release(&move->before);
}
