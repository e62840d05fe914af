// SPDX-License-Identifier: Apache-2.0
// The function that a call would have reached without us: the default-version definition in the first object after ours.
#pragma once

#pragma GCC visibility push(hidden)

typedef void (*symbol)(void);

// Null if no object after ours defines `name`. Allocates nothing and takes no lock.
symbol next_symbol(const char *name);

// The same; *object becomes the file name of the object that defines it (the dynamic linker's string, "" for the program
// itself), which also serves as the object's identity.
symbol next_symbol_in(const char *name, const char **object);

#pragma GCC visibility pop
