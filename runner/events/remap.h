// SPDX-License-Identifier: Apache-2.0
// The fifth unit of a mapping's record, besides the requested address.
//   mmap: w8 = return address of the call << 8. Records of earlier versions have 0
//   mremap: of the old mapping, w8 = (old length | MREMAP_ flags << 52) << 8; no mapping is long enough to reach the
//   flags. w9 only with MREMAP_FIXED. Records of earlier versions have such a unit only with MREMAP_FIXED, and w8 = 0
#pragma once

#define MLRUN_REMAP_FLAGS_SHIFT 52
