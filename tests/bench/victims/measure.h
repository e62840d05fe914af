// SPDX-License-Identifier: Apache-2.0
// measure LOOP ITERATIONS THREADS CPUS DATA runs one loop and prints one line of JSON.
#pragma once

// The arguments are those of main. A library as well as a program, since some tracers can only be entered from Python.
__attribute__((visibility("default"))) int measure(int argc, char **argv);
