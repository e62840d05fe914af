// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "preload/unwind/cfi_program.h"

enum pointer_form { kPointerAbsolute = 0, kPointerUleb = 1, kPointerSleb = 9, kPointerRelative = 0x10 };

uint64_t cfi_unsigned(struct cfi_bytes *bytes, unsigned size) {
  uint64_t value = 0;
  if ((uint64_t)(bytes->end - bytes->at) < size) {
    bytes->at = bytes->end;
    return 0;
  }
  memcpy(&value, bytes->at, size);
  bytes->at += size;
  return value;
}

uint64_t cfi_uleb(struct cfi_bytes *bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; bytes->at < bytes->end; shift += 7) {
    uint8_t byte = *bytes->at++;
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) break;
  }
  return value;
}

int64_t cfi_sleb(struct cfi_bytes *bytes) {
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte = 0;
  while (bytes->at < bytes->end) {
    byte = *bytes->at++;
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
    if (!(byte & 0x80)) break;
  }
  if (shift < 64 && byte & 0x40) value |= ~0ull << shift;
  return (int64_t)value;
}

bool cfi_pointer(struct cfi_bytes *bytes, uint8_t encoding, uint64_t *value) {
  uint64_t here = (uint64_t)bytes->at;
  switch (encoding & 0x0f) {
    case kPointerAbsolute:
    case 4:
    case 12: *value = cfi_unsigned(bytes, 8); break;
    case kPointerUleb: *value = cfi_uleb(bytes); break;
    case kPointerSleb: *value = (uint64_t)cfi_sleb(bytes); break;
    case 2: *value = cfi_unsigned(bytes, 2); break;
    case 3: *value = cfi_unsigned(bytes, 4); break;
    case 10: *value = (uint64_t)(int64_t)(int16_t)cfi_unsigned(bytes, 2); break;
    case 11: *value = (uint64_t)(int64_t)(int32_t)cfi_unsigned(bytes, 4); break;
    default: return false;
  }
  if ((encoding & 0xf0) == kPointerRelative) *value += here;
  return !(encoding & 0xe0);
}
