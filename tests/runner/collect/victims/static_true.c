// SPDX-License-Identifier: Apache-2.0
// A static program, into which no library can be loaded.
int main(void) { return 0; }
