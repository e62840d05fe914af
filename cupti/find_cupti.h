// SPDX-License-Identifier: Apache-2.0
// Finds libcupti. If the program has loaded one, that one is used, since a second copy in the process would compete
// with it; if it has loaded several, the newest that the driver supports. If none is loaded: the file $MLRUN_CUPTI,
// else a libcupti with the major version of the program's libcudart (without one: of the driver), else with another
// major version, the newest first; none is newer than the driver. Each is searched beside libcudart, then by the
// dynamic linker, then in the toolkit.
#pragma once

#include <stdbool.h>

#include "cupti/cupti_abi.h"

#pragma GCC visibility push(hidden)

struct found_cupti {
  const char *path;   // of the library, as the dynamic linker reports it
  const char *tried;  // if none was found, what was missing
};

// The caller of one of our functions that precede a library's function of the same name.
struct linked_caller {
  int major;  // version of that library which the caller is linked with (symbol version "LIBRARY.MAJOR"); 0: none
  const void *returns_to;  // return address: an address in the caller's code
};

// The function that the caller would have called without ours: the next definition in symbol lookup order, else one in
// the libraries that the caller needs, else one in any loaded copy of the library. The files may have other names (as
// in wheels). Null: there is none.
void *linked_function_behind(const char *library_name, const char *name, struct linked_caller caller);

// The same for a function of libcupti. For a caller without a version: the next definition in symbol lookup order, else
// that in the newest loaded libcupti.
void *cupti_function_behind(const char *name, struct linked_caller caller);

// Fills in all functions. False: there is no libcupti, or it lacks a required function.
bool find_cupti(struct cupti_functions *cupti, struct found_cupti *found);

#pragma GCC visibility pop
