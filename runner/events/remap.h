// SPDX-License-Identifier: Apache-2.0
// What the fifth unit of a mapping's record has besides the address asked for.
//   mmap: w8 = return address of the call << 8. Records of earlier versions have 0
//   mremap: of the mapping before, w8 = (old length | MREMAP_ flags << 52) << 8; no mapping is so long that it reaches the flags. w9
//   only with MREMAP_FIXED. Records of earlier versions have such a unit with MREMAP_FIXED alone, and w8 = 0
#pragma once

#define MLRUN_REMAP_FLAGS_SHIFT 52
