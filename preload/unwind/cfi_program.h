// SPDX-License-Identifier: Apache-2.0
// Runs the call frame instructions (DWARF 5, section 6.4.2) of one function up to one address. Tracks only rsp, rbp and
// the return address.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct cfi_bytes {
  const uint8_t *at, *end;
};

// Contents of the CIE, and the function's addresses.
struct cfi_context {
  uint64_t code_align;
  int64_t data_align;
  uint64_t start, address;  // of the function, and the address whose row is wanted
  uint8_t pointer_encoding;
  bool is_signal_frame;
};

// The row (unwind_row.h). A state that a row cannot encode is ROW_END for lack of information.
uint32_t run_cfi(const struct cfi_context *context, struct cfi_bytes initial, struct cfi_bytes instructions);

// Readers for the tables' encodings. At the end of the bytes they return 0 and make `at` unusable: at == end.
uint64_t cfi_unsigned(struct cfi_bytes *bytes, unsigned size);
uint64_t cfi_uleb(struct cfi_bytes *bytes);
int64_t cfi_sleb(struct cfi_bytes *bytes);
// A pointer in one of the DW_EH_PE encodings. False: an encoding that is not used for code.
bool cfi_pointer(struct cfi_bytes *bytes, uint8_t encoding, uint64_t *value);

#pragma GCC visibility pop
