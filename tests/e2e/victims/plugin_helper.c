// SPDX-License-Identifier: Apache-2.0
// The library that plugin.cpp is linked with.
int helper_answer(void);
int helper_answer(void) { return 42; }
