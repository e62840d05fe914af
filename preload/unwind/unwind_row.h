// SPDX-License-Identifier: Apache-2.0
// The step from a frame to its caller, for one code address, in 32 bits:
//
//   {kind 3 | cfa 20 | bp 9}
//
// The CFA ("canonical frame address") is the caller's stack pointer; the return address must be 8 bytes below it, else
// the row cannot be used. Only rsp and rbp are tracked: the CFA of compiled code at a call needs nothing else.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum row_kind {
  ROW_NONE,       // no row: the entry of the cache is free
  ROW_SP,         // CFA = rsp + 8 * cfa, rbp is the caller's already
  ROW_SP_BP,      // CFA = rsp + 8 * cfa, the caller's rbp is at CFA + 8 * bp
  ROW_BP,         // CFA = rbp + 8 * cfa, the caller's rbp is at CFA + 8 * bp
  ROW_REALIGNED,  // CFA is at rbp - 8 * cfa, the caller's rbp is at rbp
  ROW_SIGNAL,     // a signal handler returns here: rsp points to the interrupted context
  ROW_POINTER,    // no unwind information, but a module that keeps frame pointers: as ROW_BP, but less reliable
  ROW_END,        // the walk ends here; cfa: enum mlrun_stack_end
};

enum { kRowCfaBits = 20, kRowBpBits = 9 };

static inline bool row_fits(int64_t cfa_words, int64_t bp_words) {
  return cfa_words >= 0 && cfa_words < 1 << kRowCfaBits && bp_words >= -(1 << (kRowBpBits - 1)) &&
         bp_words < 1 << (kRowBpBits - 1);
}

// Requires: row_fits.
static inline uint32_t make_row(enum row_kind kind, int64_t cfa_words, int64_t bp_words) {
  return (uint32_t)kind | (uint32_t)cfa_words << 3 | (uint32_t)bp_words << (3 + kRowCfaBits);
}

static inline enum row_kind row_kind(uint32_t row) { return (enum row_kind)(row & 7); }
static inline uint64_t row_cfa_bytes(uint32_t row) { return (uint64_t)(row >> 3 & ((1u << kRowCfaBits) - 1)) * 8; }
static inline int64_t row_bp_bytes(uint32_t row) { return (int64_t)((int32_t)row >> (3 + kRowCfaBits)) * 8; }
