// SPDX-License-Identifier: Apache-2.0
#include "preload/record/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/scratch.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/record/strings.h"

static void prepare(struct text *text) { text->id = string_prepare(text->at, text->bytes, &text->definition_bytes); }

struct text text_of_own(const char *path) {
  struct text text = {.at = path, .bytes = strnlen(path, kStringMaxBytes)};
  prepare(&text);
  return text;
}

struct text text_of_argument(const char *path, bool proven) {
  struct text text = {0};
  if (!path) return text;
  if (proven) return text_of_own(path);
  if (!(text.page = scratch_take())) return text;
  if (!copy_string_from_program(text.page, path, kScratchBytes, &text.bytes)) {
    if (may_ask_for_memory()) distrust_pointers();
    return text;
  }
  text.at = text.page;
  prepare(&text);
  return text;
}

// "/proc/self/fd/" and the number, which is not negative.
static void descriptor_link(char *link, int fd) {
  char digits[12];
  int count = 0;
  do {
    digits[count++] = (char)('0' + fd % 10);
    fd /= 10;
  } while (fd);
  static const char prefix[] = "/proc/self/fd/";
  char *end = (char *)memcpy(link, prefix, sizeof prefix - 1) + sizeof prefix - 1;
  while (count) *end++ = digits[--count];
  *end = 0;
}

struct text text_of_descriptor(int fd) {
  struct text text = {0};
  char link[32];
  descriptor_link(link, fd);
  if (!(text.page = scratch_take())) return text;
  long bytes = raw_syscall4(SYS_readlinkat, AT_FDCWD, (long)link, (long)text.page, kScratchBytes);
  if (bytes <= 0) return text;
  text.at = text.page;
  text.bytes = (size_t)bytes;
  prepare(&text);
  return text;
}

void text_release(struct text *text) {
  scratch_give(text->page);
  text->page = 0;
}

COLD uint64_t *reserve_with_definitions(struct text *const *texts, int count, uint32_t bytes, uint32_t kind,
                                        uint8_t *lap) {
  uint32_t definitions = 0;
  for (int i = 0; i < count; i++) definitions += (uint32_t)texts[i]->definition_bytes;
  uint64_t *w = reserve(definitions + bytes, kind, lap);
  if (!w) return 0;
  for (int i = 0; i < count; i++) {
    if (!texts[i]->definition_bytes) continue;
    string_write(w, *lap, texts[i]->id, texts[i]->at, texts[i]->bytes);
    string_emitted(texts[i]->id);
    w += texts[i]->definition_bytes / 8;
  }
  return w;
}
