// SPDX-License-Identifier: Apache-2.0
// Seccomp filters that were there before this library. Nobody can tell what they do at calls that recording needs, and one
// that kills must not be tried, so a program under more of them than mlrun itself passes everything through.
#pragma once

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Filters that the calling process runs under; 0 also where /proc does not tell. By openat, read and close alone, which the
// dynamic linker has just made: a filter that kills for one of these has struck already.
uint32_t inherited_filters(void);

#pragma GCC visibility pop
