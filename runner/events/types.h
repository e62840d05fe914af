// SPDX-License-Identifier: Apache-2.0
// Fixed-width integers for headers that the kernel side (BPF), C and C++ all include. No other header may be included
// here.
#pragma once

#ifndef __VMLINUX_H__  // a BPF program has these names from its own kernel header
#include <linux/types.h>
#endif

#ifdef __cplusplus
#define MLRUN_STATIC_ASSERT static_assert
#else
#define MLRUN_STATIC_ASSERT _Static_assert
#endif
