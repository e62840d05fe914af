// SPDX-License-Identifier: Apache-2.0
// Seccomp filters that were installed before this library was loaded. It is unknown what they do at calls that
// recording needs, and one that kills must not be tried, so a program under more of them than mlrun itself passes
// everything through.
#pragma once

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Number of filters of the calling process; 0 also if /proc does not report it. Uses only openat, read and close, which
// the dynamic linker has just called: a filter that kills for one of these has already done so.
uint32_t inherited_filters(void);

#pragma GCC visibility pop
