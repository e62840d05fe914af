// SPDX-License-Identifier: Apache-2.0
// Symbol lookup over the dynamic linker's own list of objects. dlsym would allocate, take locks and, before glibc 2.34,
// be in a library of its own; dl_iterate_phdr takes a lock that a thread of the parent may have held at the moment of a
// fork, so that the child would wait for ever. The list may be read at any time up to the objects loaded at the
// program's start, which are never unloaded, and the wanted functions are there.
#include "preload/base/next_symbol.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Defined in ld.so, which is in every process that loads this library. Weak, because this library is not linked to ld.so.
extern struct r_debug _r_debug __attribute__((weak));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct wanted {
  const char *name;
  uint32_t hash;        // GNU hash of the name
  bool retired;         // look only for versions that programs can no longer link to
  bool variable;        // else a function
  const char *version;  // null: the default version, or any retired one
};

struct symbol_table {
  const ElfW(Sym) *symbols;
  const char *names;
  const uint32_t *gnu_hash, *sysv_hash;
  const uint16_t *versions;
  const ElfW(Verdef) *version_names;
  uint64_t own_name;  // DT_SONAME: offset in `names`, 0: none
};

// glibc relocates the addresses in an object's dynamic section, but not those of the vDSO.
static const void *rebase(uintptr_t address, uintptr_t base) {
  return (const void *)(address < base ? address + base : address);
}

static struct symbol_table tables_of(const struct link_map *object) {
  struct symbol_table t = {0};
  for (const ElfW(Dyn) *d = object->l_ld; d && d->d_tag != DT_NULL; d++) {
    const void *address = rebase(d->d_un.d_ptr, object->l_addr);
    if (d->d_tag == DT_SYMTAB) t.symbols = address;
    if (d->d_tag == DT_STRTAB) t.names = address;
    if (d->d_tag == DT_GNU_HASH) t.gnu_hash = address;
    if (d->d_tag == DT_HASH) t.sysv_hash = address;
    if (d->d_tag == DT_VERSYM) t.versions = address;
    if (d->d_tag == DT_VERDEF) t.version_names = address;
    if (d->d_tag == DT_SONAME) t.own_name = d->d_un.d_val;
  }
  return t;
}

enum { kHiddenVersion = 0x8000 };

static bool is_version(const struct symbol_table *t, uint16_t number, const char *name) {
  const ElfW(Verdef) *v = t->version_names;
  while (v && v->vd_ndx != number) v = v->vd_next ? (const ElfW(Verdef) *)((const char *)v + v->vd_next) : NULL;
  if (!v) return false;
  const ElfW(Verdaux) *own = (const ElfW(Verdaux) *)((const char *)v + v->vd_aux);
  return strcmp(t->names + own->vda_name, name) == 0;
}

// As in the dynamic linker: a definition without a version matches every requested version.
static bool fits_version(const struct symbol_table *t, uint32_t index, const struct wanted *w) {
  uint16_t version = t->versions ? t->versions[index] : VER_NDX_GLOBAL;
  bool hidden = version & kHiddenVersion;
  if (!w->version) return hidden == w->retired;
  version &= kHiddenVersion - 1;
  return version > VER_NDX_GLOBAL ? is_version(t, version, w->version) : !hidden;
}

static bool is_definition(const struct symbol_table *t, uint32_t index, const struct wanted *w) {
  const ElfW(Sym) *s = &t->symbols[index];
  unsigned type = ELF64_ST_TYPE(s->st_info);
  bool fits = w->variable ? type == STT_OBJECT : type == STT_FUNC || type == STT_GNU_IFUNC;
  return s->st_shndx != SHN_UNDEF && fits && fits_version(t, index, w) && strcmp(t->names + s->st_name, w->name) == 0;
}

// Index of the symbol, 0: not found.
static uint32_t find_by_gnu_hash(const struct symbol_table *t, const struct wanted *w) {
  uint32_t buckets = t->gnu_hash[0], first = t->gnu_hash[1], bloom_words = t->gnu_hash[2], shift = t->gnu_hash[3];
  const uint64_t *bloom = (const uint64_t *)(t->gnu_hash + 4);
  const uint32_t *bucket = (const uint32_t *)(bloom + bloom_words), *chain = bucket + buckets;
  if (!buckets || !bloom_words) return 0;
  uint64_t word = bloom[w->hash / 64 % bloom_words];
  if (!(word >> w->hash % 64 & word >> (w->hash >> shift) % 64 & 1)) return 0;
  uint32_t i = bucket[w->hash % buckets];
  if (i < first) return 0;
  for (;; i++) {
    uint32_t hash = chain[i - first];
    if ((hash | 1) == (w->hash | 1) && is_definition(t, i, w)) return i;
    if (hash & 1) return 0;
  }
}

static uint32_t find_in(const struct symbol_table *t, const struct wanted *w) {
  if (!t->symbols || !t->names) return 0;
  if (t->gnu_hash) return find_by_gnu_hash(t, w);
  uint32_t count = t->sysv_hash ? t->sysv_hash[1] : 0;
  for (uint32_t i = 1; i < count; i++)
    if (is_definition(t, i, w)) return i;
  return 0;
}

static symbol address_of(const struct link_map *object, const ElfW(Sym) *s) {
  union {
    uintptr_t address;
    symbol function;
    symbol (*choose)(void);
  } found = {object->l_addr + s->st_value};
  return ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC ? found.choose() : found.function;
}

static const struct link_map *own_object(void) {
  const struct link_map *object = &_r_debug ? _r_debug.r_map : NULL;
  while (object && object->l_ld != _DYNAMIC) object = object->l_next;
  return object;
}

const char *own_library_path(void) {
  const struct link_map *own = own_object();
  return own ? own->l_name : "";
}

static symbol find_in_object(const struct link_map *object, const struct wanted *w) {
  struct symbol_table t = tables_of(object);
  uint32_t index = find_in(&t, w);
  return index ? address_of(object, &t.symbols[index]) : NULL;
}

static symbol find_wanted(const struct link_map *first, const struct wanted *w, const char **object) {
  for (const struct link_map *o = first; o; o = o->l_next) {
    symbol found = o->l_ld != _DYNAMIC ? find_in_object(o, w) : NULL;
    if (!found) continue;
    *object = o->l_name;
    return found;
  }
  return NULL;
}

static uint32_t gnu_hash(const char *name) {
  uint32_t hash = 5381;
  for (const char *c = name; *c; c++) hash = hash * 33 + (unsigned char)*c;
  return hash;
}

// Retired versions count only if no library has a default version: llseek has no other.
static symbol find_from(const struct link_map *first, const char *name, const char **object) {
  struct wanted w = {.name = name, .hash = gnu_hash(name)};
  symbol found = find_wanted(first, &w, object);
  w.retired = true;
  return found ? found : find_wanted(first, &w, object);
}

symbol next_symbol_in(const char *name, const char **object) {
  const struct link_map *own = own_object();
  return own ? find_from(own->l_next, name, object) : NULL;
}

symbol next_symbol(const char *name) {
  const char *object;
  return next_symbol_in(name, &object);
}

symbol next_symbol_beside(const char *name, const char *other) {
  struct wanted w = {.name = name, .hash = gnu_hash(name)}, retired = w;
  const char *last;
  retired.retired = true;
  if (!next_symbol_in(other, &last)) return NULL;
  for (const struct link_map *o = own_object()->l_next; o; o = o->l_next) {
    symbol found = find_in_object(o, &w);
    if (!found) found = find_in_object(o, &retired);
    if (found || o->l_name == last) return o->l_name == last ? found : NULL;
  }
  return NULL;
}

symbol next_version(const char *name, const char *version) {
  const struct wanted w = {.name = name, .hash = gnu_hash(name), .version = version};
  const struct link_map *own = own_object();
  const char *object;
  symbol found = own ? find_wanted(own->l_next, &w, &object) : NULL;
  return found ? found : next_symbol(name);
}

// Recognised by symbols that only libc has, wherever its file is: libraries that replace some of its functions also
// export its private names (__libc_malloc).
static bool is_libc(const struct link_map *object) {
  struct symbol_table t = tables_of(object);
  if (!t.names || !t.own_name || strcmp(t.names + t.own_name, "libc.so.6") != 0) return false;
  for (const ElfW(Verdef) *v = t.version_names; v;
       v = v->vd_next ? (const ElfW(Verdef) *)((const char *)v + v->vd_next) : NULL) {
    const ElfW(Verdaux) *own = (const ElfW(Verdaux) *)((const char *)v + v->vd_aux);
    if (strcmp(t.names + own->vda_name, "GLIBC_PRIVATE") == 0) return true;
  }
  return false;
}

static const struct link_map *libc_map(void) {
  const struct link_map *object = own_object() ? _r_debug.r_map : NULL;
  while (object && !is_libc(object)) object = object->l_next;
  return object;
}

const char *libc_object(void) {
  const struct link_map *libc = libc_map();
  return libc ? libc->l_name : NULL;
}

static symbol find_in_libc(struct wanted w) {
  const struct link_map *libc = libc_map();
  symbol found = libc ? find_in_object(libc, &w) : NULL;
  w.retired = true;
  return found || !libc ? found : find_in_object(libc, &w);
}

symbol libc_symbol(const char *name) {
  symbol found = find_in_libc((struct wanted){.name = name, .hash = gnu_hash(name)});
  return found ? found : next_symbol(name);
}

void *libc_variable(const char *name) {
  union {
    symbol found;
    void *place;
  } variable = {find_in_libc((struct wanted){.name = name, .hash = gnu_hash(name), .variable = true})};
  return variable.place;
}

bool is_libc_object(const void *handle) {
  static const struct link_map *libc;
  if (!libc) libc = libc_map();
  return handle && handle == libc;
}

bool is_own_function(const char *name) {
  const struct wanted w = {.name = name, .hash = gnu_hash(name)};
  const struct link_map *own = own_object();
  if (!own) return false;
  struct symbol_table t = tables_of(own);
  return find_in(&t, &w);
}

symbol symbol_in_front(const char *name) {
  static const char kOfRecorder[] = "mlrun_producer";  // libmlrun_preload.so alone exports it
  const struct wanted w = {.name = name, .hash = gnu_hash(name)},
                      of_recorder = {.name = kOfRecorder, .hash = gnu_hash(kOfRecorder)};
  const struct link_map *own = own_object();
  for (const struct link_map *o = own ? _r_debug.r_map : NULL; o && o != own; o = o->l_next) {
    symbol found = find_in_object(o, &w);
    if (found && !find_in_object(o, &of_recorder)) return found;
  }
  return NULL;
}

symbol other_symbol_in(const char *name, const char **object) {
  return own_object() ? find_from(_r_debug.r_map, name, object) : NULL;
}
