// SPDX-License-Identifier: Apache-2.0
#include "preload/unwind/unwind_table.h"

#include <stddef.h>
#include <string.h>

#include "preload/unwind/cfi_program.h"
#include "preload/unwind/unwind_row.h"
#include "runner/events/record.h"

// .eh_frame_hdr as linkers write it: version 1, a pointer to .eh_frame, the number of entries, and a table of signed
// offsets from the header itself.
struct eh_frame_header {
  uint8_t version, frame_encoding, count_encoding, table_encoding;
  int32_t frame;
  uint32_t count;
};
struct table_entry {
  int32_t start, fde;
};

enum { kPointerRelative4 = 0x1b, kUnsigned4 = 0x03, kHeaderRelative4 = 0x3b };

static uint32_t no_row(void) { return make_row(ROW_END, MLRUN_STACK_NO_TABLE, 0); }

static bool lies_in(const struct code_module *module, uint64_t at, uint64_t bytes) {
  return at >= module->tables_start && at <= module->tables_end && bytes <= module->tables_end - at;
}

// Address of the FDE that may contain `address`, 0: none.
static uint64_t find_fde(const struct code_module *module, uint64_t address) {
  uint64_t base = module->eh_frame_header;
  if (!lies_in(module, base, sizeof(struct eh_frame_header))) return 0;
  const struct eh_frame_header *header = (const struct eh_frame_header *)base;
  bool usual = header->version == 1 && header->frame_encoding == kPointerRelative4 &&
               header->count_encoding == kUnsigned4 && header->table_encoding == kHeaderRelative4;
  if (!usual || !header->count) return 0;
  if (!lies_in(module, base + sizeof *header, header->count * sizeof(struct table_entry))) return 0;
  const struct table_entry *entries = (const struct table_entry *)(header + 1);
  uint32_t low = 0, high = header->count;  // entries[low] is the last that begins at or below the address
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (base + (uint64_t)(int64_t)entries[middle].start <= address)
      low = middle;
    else
      high = middle;
  }
  return base + (uint64_t)(int64_t)entries[low].fde;
}

// The bytes of a CIE or FDE after its length. Empty: it is outside the module's tables, or of the 64-bit format.
static struct cfi_bytes entry_at(const struct code_module *module, uint64_t at) {
  uint32_t length;
  struct cfi_bytes nothing = {NULL, NULL};
  if (!lies_in(module, at, sizeof length)) return nothing;
  memcpy(&length, (const void *)at, sizeof length);
  if (length >= 0xfffffff0 || !lies_in(module, at + sizeof length, length)) return nothing;
  const uint8_t *start = (const uint8_t *)(at + sizeof length);
  return (struct cfi_bytes){start, start + length};
}

struct cie {
  struct cfi_context context;
  struct cfi_bytes instructions;
  bool has_augmentation;
};

// The letters after 'z'; each has its data in `data`.
static bool read_augmentation(const char *letters, struct cfi_bytes data, struct cie *cie) {
  uint64_t ignored;
  for (; *letters; letters++) {
    switch (*letters) {
      case 'R': cie->context.pointer_encoding = (uint8_t)cfi_unsigned(&data, 1); break;
      case 'P': {
        uint8_t encoding = (uint8_t)cfi_unsigned(&data, 1);
        cfi_pointer(&data, encoding, &ignored);
        break;
      }
      case 'L': cfi_unsigned(&data, 1); break;
      case 'S': cie->context.is_signal_frame = true; break;
      case 'B': break;
      default: return false;
    }
  }
  return true;
}

static bool read_cie(struct cfi_bytes bytes, struct cie *cie) {
  if (bytes.at == bytes.end || cfi_unsigned(&bytes, 4) != 0) return false;
  uint8_t version = (uint8_t)cfi_unsigned(&bytes, 1);
  const char *letters = (const char *)bytes.at;
  size_t length = strnlen(letters, (size_t)(bytes.end - bytes.at));
  if ((version != 1 && version != 3) || letters + length == (const char *)bytes.end) return false;
  bytes.at += length + 1;
  cie->context.code_align = cfi_uleb(&bytes);
  cie->context.data_align = cfi_sleb(&bytes);
  uint64_t return_column = version == 1 ? cfi_unsigned(&bytes, 1) : cfi_uleb(&bytes);
  cie->has_augmentation = *letters == 'z';
  if (return_column != 16 || (*letters && !cie->has_augmentation)) return false;
  if (cie->has_augmentation) {
    uint64_t data_bytes = cfi_uleb(&bytes);
    if (data_bytes > (uint64_t)(bytes.end - bytes.at)) return false;
    if (!read_augmentation(letters + 1, (struct cfi_bytes){bytes.at, bytes.at + data_bytes}, cie)) return false;
    bytes.at += data_bytes;
  }
  cie->instructions = bytes;
  return true;
}

uint32_t row_from_tables(const struct code_module *module, uint64_t address) {
  if (!module->eh_frame_header) return module->keeps_frame_pointers ? make_row(ROW_POINTER, 2, -2) : no_row();
  uint64_t at = find_fde(module, address), range = 0;
  struct cfi_bytes fde = at ? entry_at(module, at) : (struct cfi_bytes){NULL, NULL};
  if (fde.at == fde.end) return no_row();
  uint64_t cie_field = (uint64_t)fde.at, cie_offset = cfi_unsigned(&fde, 4);
  struct cie cie = {.context = {.address = address}};
  if (!cie_offset || !read_cie(entry_at(module, cie_field - cie_offset), &cie)) return no_row();
  if (!cfi_pointer(&fde, cie.context.pointer_encoding, &cie.context.start)) return no_row();
  if (!cfi_pointer(&fde, cie.context.pointer_encoding & 0x0f, &range)) return no_row();
  if (address - cie.context.start >= range) return no_row();
  if (cie.has_augmentation) {
    uint64_t data_bytes = cfi_uleb(&fde);
    if (data_bytes > (uint64_t)(fde.end - fde.at)) return no_row();
    fde.at += data_bytes;
  }
  return run_cfi(&cie.context, cie.instructions, fde);
}
