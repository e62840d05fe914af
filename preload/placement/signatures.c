// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/signatures.h"

#include "preload/placement/pages.h"

struct frame {
  uint64_t id, mask, first, last;  // mask: the bits of the build id that are given; first, last: offsets
};

struct signature {
  uint32_t frames;
  struct frame frame[MLRUN_PLACE_FRAMES];
};

static int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static uint64_t read_offset(const char **at) {
  uint64_t offset = 0;
  for (; digit_of(**at) >= 0; ++*at) offset = offset * 16 + (uint64_t)digit_of(**at);
  return offset;
}

// Reads "build id+offset" or "build id+first-last" and moves *at behind it. Only the first 16 digits of the id are compared.
static struct frame read_frame(const char **at) {
  struct frame frame = {0, 0, 0, 0};
  for (int shift = 60; digit_of(**at) >= 0; ++*at, shift -= 4) {
    if (shift < 0) continue;
    frame.id |= (uint64_t)digit_of(**at) << shift;
    frame.mask |= 15ull << shift;
  }
  if (**at == '+') ++*at;
  if ((*at)[0] == '0' && (*at)[1] == 'x') *at += 2;
  frame.first = frame.last = read_offset(at);
  if (**at == '-') {
    ++*at;
    frame.last = read_offset(at);
  }
  return frame;
}

static void read_one(struct signature *signature, const char **at) {
  signature->frames = 0;
  while (**at && **at != ';' && signature->frames < MLRUN_PLACE_FRAMES) {
    signature->frame[signature->frames++] = read_frame(at);
    if (**at == ',') ++*at;
  }
}

struct signatures signatures_read(const char *text) {
  struct signatures all = {NULL, 1, 0};
  for (const char *at = text; *at; at++) all.count += *at == ';';
  struct signature *memory = pages_map(NULL, all.count * sizeof *memory);
  if (!memory) return (struct signatures){NULL, 0, 0};
  for (uint32_t i = 0; i < all.count; i++) {
    read_one(&memory[i], &text);
    if (*text == ';') text++;
    if (memory[i].frames > all.frames) all.frames = memory[i].frames;
  }
  all.first = memory;
  return all;
}

static bool matches(const struct signature *signature, const struct code_place *places) {
  for (uint32_t i = 0; i < signature->frames; i++) {
    const struct frame *frame = &signature->frame[i];
    if (places[i].offset < frame->first || places[i].offset > frame->last || (places[i].id & frame->mask) != frame->id)
      return false;
  }
  return true;
}

bool signatures_match(const struct signatures *all, const struct code_place *places, uint32_t count) {
  for (uint32_t i = 0; i < all->count; i++)
    if (all->first[i].frames <= count && matches(&all->first[i], places)) return true;
  return false;
}
