// SPDX-License-Identifier: Apache-2.0
// Functions that take a block and that a program looks up by a handle: of libc (ctypes, cffi, JNA), or of a library whose dependencies lead to libc.
// Such a lookup passes the preloaded libraries over, and libc's free would be given placed blocks. So the program gets ours, where ours passes all
// other blocks on to just the function that was found. Functions that only allocate stay as found.
//
// Lookups without a handle (RTLD_NEXT, RTLD_DEFAULT) depend on the caller: they end in a jump to the real function that leaves no stack frame.
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/real_allocator.h"
#include "preload/base/real_function.h"
#include "preload/placement/window.h"

void cfree(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

// These do not move other blocks to a rule's heap: the program may free them by a function of libc that is not looked up (__libc_free).
static void *realloc_found(void *old, size_t size) {
  return in_window(old) ? realloc(old, size) : real_allocator.realloc(old, size);
}

static void *reallocarray_found(void *old, size_t count, size_t each) {
  REAL(void *, reallocarray, void *, size_t, size_t);
  return in_window(old) ? reallocarray(old, count, each) : real(old, count, each);
}

static const struct function {
  const char *name;
  symbol ours;
  bool is_free;  // it calls our free, which passes other blocks on to the program's free
} functions[] = {{"free", (symbol)free, true},
                 {"realloc", (symbol)realloc_found, false},
                 {"reallocarray", (symbol)reallocarray_found, false},
                 {"malloc_usable_size", (symbol)malloc_usable_size, false},
                 {"cfree", (symbol)cfree, true},
                 {"free_sized", (symbol)free_sized, true},
                 {"free_aligned_sized", (symbol)free_aligned_sized, true}};

// Null: there is none of that name, or the lookup has no handle.
static const struct function *ours_of(const void *handle, const char *name) {
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !name) return NULL;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(name, functions[i].name)) return &functions[i];
  return NULL;
}

static symbol replaced(const struct function *ours, symbol found) {
  symbol next = !found ? NULL : ours->is_free ? next_symbol_beside(ours->name, "free") : next_symbol(ours->name);
  return found && found == next ? ours->ours : found;
}

symbol dlsym_hook(void *handle, const char *name) __asm__("dlsym");
symbol dlvsym_hook(void *handle, const char *name, const char *version) __asm__("dlvsym");

// Null: before glibc 2.34, where these functions are in libdl, which is not loaded.
EXPORT symbol dlsym_hook(void *handle, const char *name) {
  REAL(symbol, dlsym, void *, const char *);
  const struct function *ours = ours_of(handle, name);
  if (unlikely(!real)) return NULL;
  if (unlikely(ours != NULL)) return replaced(ours, real(handle, name));
  return real(handle, name);
}

EXPORT symbol dlvsym_hook(void *handle, const char *name, const char *version) {
  REAL(symbol, dlvsym, void *, const char *, const char *);
  const struct function *ours = ours_of(handle, name);
  if (unlikely(!real)) return NULL;
  if (unlikely(ours != NULL)) return replaced(ours, real(handle, name, version));
  return real(handle, name, version);
}
