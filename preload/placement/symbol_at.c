// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/symbol_at.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "preload/base/glob.h"

// Number of dynamic symbols. DT_GNU_HASH does not have it; the last symbol is at the end of the hash chain of the bucket with the highest first symbol.
static uint32_t count_of(const uint32_t *hash) {
  uint32_t buckets = hash[0], first = hash[1], bloom_words = hash[2], last = 0;
  const uint32_t *bucket = hash + 4 + bloom_words * 2, *chain = bucket + buckets;
  for (uint32_t i = 0; i < buckets; i++)
    if (bucket[i] > last) last = bucket[i];
  if (last < first) return first;
  while (!(chain[last - first] & 1)) last++;
  return last + 1;
}

bool any_symbol_matches(const void *dynamic, uint64_t bias, uint64_t address, const char *pattern) {
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  const uint32_t *hash = NULL;
  for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
    uint64_t at = d->d_un.d_ptr < bias ? d->d_un.d_ptr + bias : d->d_un.d_ptr;
    if (d->d_tag == DT_SYMTAB) symbols = (const void *)at;
    if (d->d_tag == DT_STRTAB) names = (const void *)at;
    if (d->d_tag == DT_GNU_HASH) hash = (const void *)at;
  }
  if (!symbols || !names || !hash) return false;
  for (uint32_t i = 1, count = count_of(hash); i < count; i++) {
    const ElfW(Sym) *s = &symbols[i];
    const char *name = names + s->st_name;
    if (s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
        address - bias - s->st_value < s->st_size && glob_matches(pattern, name, strlen(name)))
      return true;
  }
  return false;
}
