// SPDX-License-Identifier: Apache-2.0
// What the fifth unit of an mremap's record has of the mapping before: w8 = (old length | MREMAP_ flags << 52) << 8. No mapping is so
// long that it reaches the flags. w9 is the address asked for, with MREMAP_FIXED. Records of earlier versions have a fifth unit with
// MREMAP_FIXED alone, and w8 = 0.
#pragma once

#define MLRUN_REMAP_FLAGS_SHIFT 52
