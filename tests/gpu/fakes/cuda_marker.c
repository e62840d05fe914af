// SPDX-License-Identifier: Apache-2.0
// Loaded as libcuda.so.1 by a test program, so that it is one that uses a GPU as far as its mappings tell.
int fake_cuda_is_loaded = 1;
