// SPDX-License-Identifier: Apache-2.0
// The environment of a program that is about to be executed. It is traced if MLRUN_SESSION is set and LD_PRELOAD names
// this library: both are restored if the program has dropped them, and the library is removed if it could not be
// loaded. Where it is added, ours is first in LD_PRELOAD, except after a libasan, which insists on being first; a list
// that names it already keeps its order. An environment that names the session of another mlrun is not changed. If GPU
// work is recorded, libmlrun_cupti.so is added too: to LD_PRELOAD right after ours, and to the variable by which CUDA
// loads a library at its start, unless the program has set that. libmlrun_placement.so is added to LD_PRELOAD after
// these if there are placement rules.
//
// The changed copy is in an exec_space, so this also serves a vfork child and a thread with a small stack:
//
//   struct environment_plan plan = plan_environment(environment, &target);
//   plan_environment_space(&plan);
//   real(path, arguments, make_environment(&plan));
//   exec_space_give(plan.space);
#pragma once

#include <stddef.h>

#include "preload/exec/exec_target.h"

#pragma GCC visibility push(hidden)

enum preload_change { kPreloadKeep, kPreloadAdd, kPreloadRemove };

struct environment_plan {
  char *const *given;
  size_t count;          // entries in it
  char *const *preload;  // its LD_PRELOAD entry, or null
  enum preload_change change;
  const char *runtime;  // sanitizer's runtime to be added, or ""
  _Bool add_session;
  _Bool add_injection;
  _Bool nested;    // it names the session of another mlrun
  _Bool untraced;  // it lacks what keeps the program traced, and is too large to be changed
  size_t words;    // size of the copy, 0: `given` is used as it is
  char **space;    // memory for the copy
};

struct environment_plan plan_environment(char *const *given, const struct exec_target *target);

// Takes the memory for the copy; if there is none the environment stays as it is.
void plan_environment_space(struct environment_plan *plan);

char *const *make_environment(const struct environment_plan *plan);

#pragma GCC visibility pop
