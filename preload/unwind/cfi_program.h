// SPDX-License-Identifier: Apache-2.0
// Call frame instructions (DWARF 5, section 6.4.2) of one function, run up to one address. Of the registers only rsp,
// rbp and the return address are followed.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct cfi_bytes {
  const uint8_t *at, *end;
};

// What the CIE says, and where the function is.
struct cfi_context {
  uint64_t code_align;
  int64_t data_align;
  uint64_t start, address;  // of the function, and the address whose row is wanted
  uint8_t pointer_encoding;
  bool is_signal_frame;
};

// The row (unwind_row.h). What cannot be said in a row is ROW_END for want of information.
uint32_t run_cfi(const struct cfi_context *context, struct cfi_bytes initial, struct cfi_bytes instructions);

// Readers for what the tables are made of. At the end of the bytes they give 0 and leave `at` beyond use: at == end.
uint64_t cfi_unsigned(struct cfi_bytes *bytes, unsigned size);
uint64_t cfi_uleb(struct cfi_bytes *bytes);
int64_t cfi_sleb(struct cfi_bytes *bytes);
// A pointer in one of the DW_EH_PE encodings. False: an encoding that is not used for code.
bool cfi_pointer(struct cfi_bytes *bytes, uint8_t encoding, uint64_t *value);

#pragma GCC visibility pop
