// SPDX-License-Identifier: Apache-2.0
#include "preload/real_allocator.h"

#include "preload/next_symbol.h"

extern void *__libc_malloc(size_t);

HOT struct real_allocator real_allocator;

void real_allocator_resolve(void) {
  struct real_allocator *r = &real_allocator;
  const char *object, *usable_size_object;
  void *(*found)(size_t) = (void *(*)(size_t))next_symbol_in("malloc", &object);
  r->calloc = (void *(*)(size_t, size_t))next_symbol("calloc");
  r->realloc = (void *(*)(void *, size_t))next_symbol("realloc");
  r->free = (void (*)(void *))next_symbol("free");
  r->posix_memalign = (int (*)(void **, size_t, size_t))next_symbol("posix_memalign");
  r->aligned_alloc = (void *(*)(size_t, size_t))next_symbol("aligned_alloc");
  r->memalign = (void *(*)(size_t, size_t))next_symbol("memalign");
  r->valloc = (void *(*)(size_t))next_symbol("valloc");
  r->pvalloc = (void *(*)(size_t))next_symbol("pvalloc");
  size_t (*size)(void *) = (size_t(*)(void *))next_symbol_in("malloc_usable_size", &usable_size_object);
  // Another library's function would misread these blocks.
  r->usable_size = size && usable_size_object == object ? size : NULL;
  r->is_glibc = found == __libc_malloc;
  __atomic_store_n(&r->malloc, found, __ATOMIC_RELEASE);
}

const char *real_allocator_object(void) {
  const char *object = "";
  other_symbol_in("malloc", &object);
  return object;
}

bool real_allocator_has_new(void) {
  const char *object = NULL, *object_of_new = NULL;
  return other_symbol_in("malloc", &object) && other_symbol_in("_Znwm", &object_of_new) && object == object_of_new;
}
