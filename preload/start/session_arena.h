// SPDX-License-Identifier: Apache-2.0
// The arena that the session's variable names: MLRUN_SESSION=PATH,BYTES,FILTERS. Both injected libraries read it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runner/events/session.h"

struct session_arena {
  char path[4096];
  uint64_t bytes;
  uint64_t filters;  // seccomp filters that mlrun itself runs under
};

// The entry of the environment, with the variable's name; null: there is none.
static inline const char *session_entry(char **environment) {
  static const char prefix[] = MLRUN_SESSION_VARIABLE "=";
  for (; *environment; environment++)
    if (!strncmp(*environment, prefix, sizeof prefix - 1)) return *environment;
  return NULL;
}

// Moves *at behind the digits.
static inline uint64_t session_number(const char **at) {
  uint64_t number = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) number = number * 10 + (uint64_t)(**at - '0');
  return number;
}

static inline bool session_parse(const char *entry, struct session_arena *arena) {
  const char *path = entry + sizeof MLRUN_SESSION_VARIABLE;
  size_t length = strcspn(path, ",");
  if (!length || length >= sizeof arena->path || path[length] != ',') return false;
  memcpy(arena->path, path, length);
  arena->path[length] = 0;
  const char *at = path + length + 1;
  arena->bytes = session_number(&at);
  if (*at++ != ',') return false;
  arena->filters = session_number(&at);
  return true;
}
