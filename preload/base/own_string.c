// SPDX-License-Identifier: Apache-2.0
// The <string.h> functions that this library, and the code that the compiler generates for it, calls. libc's would be
// reached through the dynamic linker, which takes the first function of that name: the program's own, or that of a
// sanitizer linked into it. A sanitizer's crashes before its setup, and our constructor runs earlier; later it would
// take our reads for the program's. Hidden like everything not exported, so the linker binds every call in this library
// to these.
//
// strlen is in the path of every fputs; the others are on no hot path: short copies are inlined, path_call.c measures
// paths.
#include <stdint.h>
#include <string.h>

#include "preload/base/zero_bytes.h"

// Without this the compiler turns the loop of such a function into a call of the function itself.
#pragma GCC optimize("no-tree-loop-distribute-patterns")

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  void *at = to;
  __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
  return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
  char *into = to;
  const char *source = from;
  if ((size_t)(into - source) >= bytes) return memcpy(to, from, bytes);
  while (bytes--) into[bytes] = source[bytes];
  return to;
}

void *memset(void *at, int value, size_t bytes) {
  void *next = at;
  __asm__ volatile("rep stosb" : "+D"(next), "+c"(bytes) : "a"(value) : "memory");
  return at;
}

int memcmp(const void *left, const void *right, size_t bytes) {
  const unsigned char *a = left, *b = right;
  for (size_t i = 0; i < bytes; i++)
    if (a[i] != b[i]) return a[i] - b[i];
  return 0;
}

void *memchr(const void *at, int wanted, size_t bytes) {
  for (const unsigned char *next = at; bytes--; next++)
    if (*next == (unsigned char)wanted) return (void *)(size_t)next;
  return NULL;
}

size_t strnlen(const char *text, size_t most) {
  if (!most) return 0;
  size_t into = (uintptr_t)text & 15, bytes = 16 - into;
  uint32_t ends = zeros_in(text - into) >> into;
  if (ends) bytes = 0;
  for (; !ends && bytes < most; bytes += ends ? 0 : 16) ends = zeros_in(text + bytes);
  if (ends) bytes += (size_t)__builtin_ctz(ends);
  return bytes < most ? bytes : most;
}

size_t strlen(const char *text) { return strnlen(text, (size_t)-1); }

int strncmp(const char *left, const char *right, size_t most) {
  const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
  for (size_t i = 0; i < most; i++)
    if (a[i] != b[i] || !a[i]) return a[i] - b[i];
  return 0;
}

int strcmp(const char *left, const char *right) { return strncmp(left, right, (size_t)-1); }

char *strchr(const char *text, int wanted) {
  for (;; text++) {
    if (*text == (char)wanted) return (char *)(size_t)text;
    if (!*text) return NULL;
  }
}

char *strrchr(const char *text, int wanted) {
  char *last = NULL;
  for (; (text = strchr(text, wanted)); text++) {
    last = (char *)(size_t)text;
    if (!*text) break;
  }
  return last;
}

// Number of leading letters of `text` that are in `set` (inside) or not.
static size_t span(const char *text, const char *set, _Bool inside) {
  size_t bytes = 0;
  while (text[bytes] && (strchr(set, text[bytes]) != NULL) == inside) bytes++;
  return bytes;
}

size_t strspn(const char *text, const char *set) { return span(text, set, 1); }
size_t strcspn(const char *text, const char *set) { return span(text, set, 0); }

char *strstr(const char *text, const char *wanted) {
  size_t bytes = strlen(wanted);
  for (; *text; text++)
    if (!strncmp(text, wanted, bytes)) return (char *)(size_t)text;
  return bytes ? NULL : (char *)(size_t)text;
}
