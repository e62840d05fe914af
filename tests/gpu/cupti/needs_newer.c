// SPDX-License-Identifier: Apache-2.0
// A library of a program, linked with a libcupti that has the function NEEDED, which older ones of the same name have not. As
// PyTorch's it knows where its own libcupti is (RPATH).
int NEEDED(int value);
int call_newer(void);
int call_newer(void) { return NEEDED(0); }
