// SPDX-License-Identifier: Apache-2.0
// Which libcupti: the one that the program has loaded already, of several the newest that the driver takes. Where there is none yet, $MLRUN_CUPTI; else of the major
// version of the program's libcudart (of the driver without one), never newer than the driver: beside libcudart, where
// the dynamic linker finds it, the toolkit last. A second copy in one process would compete with the first.
#pragma once

#include <stdbool.h>

#include "cupti/cupti_abi.h"

#pragma GCC visibility push(hidden)

struct found_cupti {
  const char *path;   // of the library, as the dynamic linker has it
  const char *tried;  // what was missing, where nothing was found
};

// What a call of CUPTI's function would have reached without us, of a caller that is linked with that major version of
// libcupti; 0: it names none, and gets the first that the dynamic linker finds, else the newest that is loaded. Null:
// there is none.
void *cupti_function_behind(const char *name, int major);

// Likewise of a caller that is linked with "LIBRARY.MAJOR", whose symbols have a version of that name.
void *linked_function_behind(const char *library_name, const char *name, int major);

// Fills in all functions. False: there is no libcupti, or it lacks a function that cannot be missed.
bool find_cupti(struct cupti_functions *cupti, struct found_cupti *found);

#pragma GCC visibility pop
