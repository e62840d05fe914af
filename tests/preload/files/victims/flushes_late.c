// SPDX-License-Identifier: Apache-2.0
// A library that is unloaded after the interposer: it flushes stdout by itself, then puts in more and flushes that.
#include <stdio.h>

void flushes_late(void) {}

static __attribute__((destructor)) void unload(void) {
  fflush(stdout);
  fputs("late", stdout);
  fflush(stdout);
}
