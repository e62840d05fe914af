// SPDX-License-Identifier: Apache-2.0
// The program around the loops; what it takes and prints: measure.h.
#include "measure.h"

int main(int argc, char **argv) { return measure(argc, argv); }
