// SPDX-License-Identifier: Apache-2.0
// Finds libcupti: the one that the program has loaded already, of several the newest that the driver supports. If none
// is loaded, $MLRUN_CUPTI; else the major version of the program's libcudart (of the driver without one), never newer
// than the driver: beside libcudart, then where the dynamic linker finds it, then in the toolkit. A second copy in one
// process would compete with the first.
#pragma once

#include <stdbool.h>

#include "cupti/cupti_abi.h"

#pragma GCC visibility push(hidden)

struct found_cupti {
  const char *path;   // of the library, as the dynamic linker has it
  const char *tried;  // what was missing, if nothing was found
};

// The caller of a function that precedes a library's own.
struct linked_caller {
  int major;  // of the library that it is linked with: the symbol's version is "LIBRARY.MAJOR"; 0: it names none
  const void *returns_to;  // a place in its code
};

// What that call would have reached without us: the next definition in lookup order, else one in the libraries that the
// caller needs, whatever their files are called (a wheel may bundle one under another name). Null: there is none.
void *linked_function_behind(const char *library_name, const char *name, struct linked_caller caller);

// The same for libcupti. A caller that names no version gets the first that the dynamic linker finds, else the newest
// that is loaded.
void *cupti_function_behind(const char *name, struct linked_caller caller);

// Fills in all functions. False: there is no libcupti, or it lacks a required function.
bool find_cupti(struct cupti_functions *cupti, struct found_cupti *found);

#pragma GCC visibility pop
