// SPDX-License-Identifier: Apache-2.0
#include "preload/record/process_ranks.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "runner/events/record.h"

enum number { kRank, kLocalRank, kWorldSize, kNumbers };

static const unsigned kBits[kNumbers] = {20, 16, 20};

struct variable {
  const char *name;
  unsigned char number, launcher;
};

static const struct variable kVariables[] = {
#define VARIABLE(name, number, launcher) {name, number, MLRUN_LAUNCHER_##launcher},
#include "runner/events/launchers.def"
};

enum { kVariableCount = sizeof kVariables / sizeof *kVariables };

// The number + 1; 0: the text is not a number, or it exceeds the field.
static uint64_t after(const char *text, unsigned bits) {
  uint64_t number = 0, most = (1ull << bits) - 2;
  if (!*text) return 0;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return 0;
    number = number * 10 + (uint64_t)(*text - '0');
    if (number > most) return 0;
  }
  return number + 1;
}

// Quick check: most entries begin with another letter than all variables. The compiler makes a constant of the letters.
static bool may_be_one(char first) {
  const uint32_t letters = 0
#define VARIABLE(name, ...) | 1u << (name[0] - 'A')
#include "runner/events/launchers.def"
      ;
  return first >= 'A' && first <= 'Z' && letters >> (first - 'A') & 1;
}

struct process_ranks process_ranks_read(char **environment) {
  struct {
    size_t place;
    uint64_t after;
  } found[kNumbers] = {{kVariableCount, 0}, {kVariableCount, 0}, {kVariableCount, 0}};
  for (; *environment; environment++) {
    const char *entry = *environment;
    if (!may_be_one(*entry)) continue;
    for (size_t i = 0; i < kVariableCount; i++) {
      const struct variable *v = &kVariables[i];
      if (i >= found[v->number].place || *entry != *v->name) continue;
      size_t length = strlen(v->name);
      if (strncmp(entry, v->name, length) || entry[length] != '=') continue;
      uint64_t number = after(entry + length + 1, kBits[v->number]);
      if (number) found[v->number].place = i, found[v->number].after = number;
    }
  }
  uint64_t size = found[kWorldSize].after ? found[kWorldSize].after - 1 : 0;
  size_t of_rank = found[kRank].place;
  return (struct process_ranks){found[kRank].after << 8 | found[kLocalRank].after << 28 | size << 44,
                                of_rank < kVariableCount ? kVariables[of_rank].launcher : 0};
}
