// SPDX-License-Identifier: Apache-2.0
#include "preload/unwind/elf_module.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/base/readable.h"
#include "preload/base/real_function.h"

enum { kHeadersMaxBytes = 4096, kNotesMaxBytes = 4096, kCodeLookedAtBytes = 256 << 10 };

struct headers {
  uint64_t at;  // of the ELF header; 0: only the program headers are known
  const ElfW(Phdr) *first;
  unsigned count;
};

// FNV-1a over the first KiB of the file: the headers, and the build id or what else is behind them. Headers alone are equal in two builds
// that differ in a constant or in a name of the same length.
static uint64_t hash_of_begin(uint64_t header) {
  enum { kWords = 128 };
  uint64_t hash = 0xcbf29ce484222325ull;
  for (int i = 0; i < kWords; i++) hash = (hash ^ ((const uint64_t *)header)[i]) * 0x100000001b3ull;
  return hash;
}

bool is_same_file(const struct code_module *module) {
  enum { kLongEnough = 8 };  // a shorter id is one that somebody chose
  uint64_t id = module->build_id_at, bytes = module->build_id_bytes;
  if (bytes >= kLongEnough && id - module->header < kReadablePageBytes - bytes)
    return !memcmp((const void *)id, module->build_id, bytes);
  return hash_of_begin(module->header) == module->begin_hash;
}

static bool headers_at(uint64_t address, struct headers *headers) {
  if (!address || address % kReadablePageBytes || !is_readable_range(address, sizeof(ElfW(Ehdr)))) return false;
  const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)address;
  if (memcmp(elf->e_ident, ELFMAG, SELFMAG) || elf->e_ident[EI_CLASS] != ELFCLASS64) return false;
  uint64_t bytes = (uint64_t)elf->e_phnum * sizeof(ElfW(Phdr));
  if (elf->e_phentsize != sizeof(ElfW(Phdr)) || elf->e_phoff > kHeadersMaxBytes || bytes > kHeadersMaxBytes ||
      elf->e_phoff % 8 || !is_readable_range(address + elf->e_phoff, bytes))
    return false;
  *headers = (struct headers){address, (const ElfW(Phdr) *)(address + elf->e_phoff), elf->e_phnum};
  return true;
}

// The kernel passes the addresses of the program's own headers.
static bool headers_of_program(struct headers *headers) {
  LIBC(unsigned long, getauxval, unsigned long);
  *headers = (struct headers){0, (const ElfW(Phdr) *)libc_getauxval(AT_PHDR), (unsigned)libc_getauxval(AT_PHNUM)};
  return headers->first && headers->count;
}

static const ElfW(Phdr) *find_header(const struct headers *headers, uint32_t type) {
  for (unsigned i = 0; i < headers->count; i++)
    if (headers->first[i].p_type == type) return &headers->first[i];
  return NULL;
}

static bool belong_to(const struct headers *headers, const struct link_map *object) {
  const ElfW(Phdr) *dynamic = find_header(headers, PT_DYNAMIC);
  return dynamic && object->l_addr + dynamic->p_vaddr == (uint64_t)object->l_ld;
}

static bool find_code(const struct headers *headers, struct code_module *module) {
  for (unsigned i = 0; i < headers->count; i++) {
    const ElfW(Phdr) *p = &headers->first[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !p->p_memsz) continue;
    uint64_t start = module->bias + p->p_vaddr;
    if (!module->end) {
      module->start = start;
      module->file_offset = p->p_offset;
    }
    if (start + p->p_memsz > module->end) module->end = start + p->p_memsz;
  }
  return module->end > module->start;
}

static void find_tables(const struct headers *headers, struct code_module *module) {
  const ElfW(Phdr) *tables = find_header(headers, PT_GNU_EH_FRAME);
  if (!tables) return;
  uint64_t at = module->bias + tables->p_vaddr;
  for (unsigned i = 0; i < headers->count; i++) {
    const ElfW(Phdr) *p = &headers->first[i];
    uint64_t start = module->bias + p->p_vaddr;
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_R) || at < start || at - start >= p->p_filesz) continue;
    module->tables_start = start;
    module->tables_end = start + p->p_filesz;
    module->eh_frame_header = at;
  }
}

static void find_build_id(const struct headers *headers, struct code_module *module) {
  for (unsigned i = 0; i < headers->count; i++) {
    const ElfW(Phdr) *p = &headers->first[i];
    uint64_t at = module->bias + p->p_vaddr, end = at + p->p_memsz;
    if (p->p_type != PT_NOTE || p->p_memsz < sizeof(ElfW(Nhdr)) || p->p_memsz > kNotesMaxBytes) continue;
    if (!is_readable_range(at, p->p_memsz)) continue;
    while (at + sizeof(ElfW(Nhdr)) < end) {
      const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
      uint64_t name = at + sizeof *note, text = name + (note->n_namesz + 3u) / 4 * 4;
      at = text + (note->n_descsz + 3u) / 4 * 4;
      if (at > end || at < text) break;
      if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 || memcmp((const void *)name, "GNU", 4)) continue;
      module->build_id_at = text;
      module->build_id_bytes = note->n_descsz < kBuildIdMaxBytes ? (uint8_t)note->n_descsz : kBuildIdMaxBytes;
      memcpy(module->build_id, (const void *)text, module->build_id_bytes);
    }
  }
}

// Whether mov %rsp, %rbp follows soon after push %rbp; compilers may put other instructions in between.
static bool begins_frame(const uint8_t *code) {
  static const uint8_t set_frame[3] = {0x48, 0x89, 0xe5};
  enum { kPrologueBytes = 24 };
  for (int i = 1; i <= kPrologueBytes - (int)sizeof set_frame; i++)
    if (!memcmp(code + i, set_frame, sizeof set_frame)) return true;
  return false;
}

// Functions begin at multiples of 16. If most of those that begin by saving rbp then make it their frame pointer, the
// module was compiled with frame pointers; else rbp is an ordinary register.
static bool looks_framed(const struct headers *headers, const struct code_module *module) {
  static const uint8_t landing_pad[4] = {0xf3, 0x0f, 0x1e, 0xfa};
  enum { kPushBp = 0x55, kLookAheadBytes = 32 };
  const ElfW(Phdr) *p = headers->first;
  while (p < headers->first + headers->count && module->bias + p->p_vaddr != module->start) p++;
  if (p == headers->first + headers->count || !(p->p_flags & PF_R)) return false;
  uint64_t bytes = module->end - module->start;
  if (bytes > kCodeLookedAtBytes) bytes = kCodeLookedAtBytes;
  if (!is_readable_range(module->start, bytes)) return false;
  unsigned pushes = 0, frames = 0;
  for (uint64_t at = (module->start + 15) / 16 * 16; at + kLookAheadBytes <= module->start + bytes; at += 16) {
    const uint8_t *code = (const uint8_t *)at;
    if (!memcmp(code, landing_pad, sizeof landing_pad)) code += sizeof landing_pad;
    if (code[0] != kPushBp) continue;
    pushes++;
    frames += begins_frame(code);
  }
  return frames >= 2 && frames * 4 >= pushes * 3;
}

bool read_elf_module(uint64_t at, const struct link_map *object, struct code_module *module) {
  struct headers headers;
  if (!(headers_at(object->l_addr, &headers) && belong_to(&headers, object)) &&
      !(headers_of_program(&headers) && belong_to(&headers, object)))
    return false;
  *module = (struct code_module){.bias = object->l_addr,
                                 .object = at,
                                 .dynamic = (uint64_t)object->l_ld,
                                 .name = (uint64_t)object->l_name,
                                 .header = headers.at};
  if (headers.at) module->begin_hash = hash_of_begin(headers.at);
  if (!find_code(&headers, module)) return false;
  find_tables(&headers, module);
  find_build_id(&headers, module);
  if (!module->eh_frame_header) module->keeps_frame_pointers = looks_framed(&headers, module);
  return true;
}
