// SPDX-License-Identifier: Apache-2.0
#include "preload/base/real_allocator.h"

#include "preload/base/next_symbol.h"
#include "runner/events/placement.h"

HOT struct real_allocator real_allocator;

extern const struct mlrun_placement_view mlrun_placement_view __attribute__((weak));

static bool is_of_placement(void *(*found)(size_t)) {
  return &mlrun_placement_view && found == mlrun_placement_view.malloc;
}

enum {
  kOrdinary = allocator_bit(MLRUN_MALLOC) | allocator_bit(MLRUN_CALLOC) | allocator_bit(MLRUN_REALLOC),
  kKinds = MLRUN_ALLOC_END - MLRUN_MALLOC
};

static symbol find(const char *name, enum mlrun_kind kind, const char **objects) {
  return next_symbol_in(name, &objects[kind - MLRUN_MALLOC]);
}

// allocator_bits of the functions, except free, that are in another object than `object`.
static uint32_t functions_of_others(const char *const *objects, const char *object) {
  uint32_t others = 0;
  for (uint32_t i = 0; i < kKinds; i++)
    if (objects[i] && objects[i] != object) others |= 1u << i;
  return others & ~allocator_bit(MLRUN_FREE);
}

// The object that knows the sizes of blocks. A library may replace only a part of the family, for instance libc's malloc
// or its free. If all functions that return blocks are in one object and libc's free is not in use, it is that object.
// Else it is the object of free: another one would misread the sizes.
static const char *find_owner(const char *const *objects, const char *libc) {
  const char *of_malloc = objects[0], *of_free = objects[MLRUN_FREE - MLRUN_MALLOC];
  bool is_whole = of_free != libc && !functions_of_others(objects, of_malloc);
  return is_whole ? of_malloc : of_free;
}

// Allocators are identified by the objects that contain their functions. Libc's private names (__libc_malloc) do not
// identify libc: other allocators export them too, for programs that call them.
void real_allocator_resolve(void) {
  struct real_allocator *r = &real_allocator;
  const char *objects[kKinds] = {NULL}, *object_of_size = NULL, *libc = libc_object();
  void *(*found)(size_t) = (void *(*)(size_t))find("malloc", MLRUN_MALLOC, objects);
  r->free = (void (*)(void *))find("free", MLRUN_FREE, objects);
  r->calloc = (void *(*)(size_t, size_t))find("calloc", MLRUN_CALLOC, objects);
  r->realloc = (void *(*)(void *, size_t))find("realloc", MLRUN_REALLOC, objects);
  r->posix_memalign = (int (*)(void **, size_t, size_t))find("posix_memalign", MLRUN_POSIX_MEMALIGN, objects);
  r->aligned_alloc = (void *(*)(size_t, size_t))find("aligned_alloc", MLRUN_ALIGNED_ALLOC, objects);
  r->memalign = (void *(*)(size_t, size_t))find("memalign", MLRUN_MEMALIGN, objects);
  r->valloc = (void *(*)(size_t))find("valloc", MLRUN_VALLOC, objects);
  r->pvalloc = (void *(*)(size_t))find("pvalloc", MLRUN_PVALLOC, objects);
  size_t (*size)(void *) = (size_t(*)(void *))next_symbol_in("malloc_usable_size", &object_of_size);
  const char *owner = find_owner(objects, libc);
  r->is_glibc = libc && owner == libc;
  r->of_others = r->is_glibc ? 0 : functions_of_others(objects, owner);
  if (is_of_placement(found)) size = mlrun_placement_view.usable_size;
  if (is_of_placement(found) && mlrun_placement_view.is_before_glibc()) {
    r->placed_base = mlrun_placement_view.base;
    r->placed_bytes = mlrun_placement_view.bytes;
  }
  r->free_in_front = (void (*)(void *))symbol_in_front("free");
  r->realloc_in_front = (void *(*)(void *, size_t))symbol_in_front("realloc");
  r->usable_size = !(r->of_others & kOrdinary) && object_of_size == owner ? size : NULL;
  __atomic_store_n(&r->malloc, found, __ATOMIC_RELEASE);
}

const char *real_allocator_object(void) {
  const char *object = "";
  void *(*found)(size_t) = (void *(*)(size_t))other_symbol_in("malloc", &object);
  return is_of_placement(found) ? mlrun_placement_view.allocator_object() : object;
}

bool real_allocator_has_new(void) {
  const char *object_of_new = NULL;
  return other_symbol_in("_Znwm", &object_of_new) && real_allocator_object() == object_of_new;
}
