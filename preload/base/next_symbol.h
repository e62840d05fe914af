// SPDX-License-Identifier: Apache-2.0
// The function that a call would have reached without us: the default-version definition in the first object after
// ours, or where there is none, one of a version that only programs of old ask for.
#pragma once

#include <stdbool.h>

#pragma GCC visibility push(hidden)

typedef void (*symbol)(void);

// Null if no object after ours defines `name`. Allocates nothing and takes no lock.
symbol next_symbol(const char *name);

// The same; *object becomes the file name of the object that defines it (the dynamic linker's string, "" for the
// program itself); its address also serves as the object's identity.
symbol next_symbol_in(const char *name, const char **object);

// The function behind a call that asks for a version that new programs are not linked with: libc keeps such functions
// for programs of old where what they do has changed. Where no object after ours has that version, as next_symbol.
symbol next_version(const char *name, const char *version);

// The first definition in any object but ours. One in the program itself comes before ours: our hook is never called.
symbol other_symbol_in(const char *name, const char **object);

// What this library calls and reads of libc for itself, past the program and its libraries that have the name too. Where
// there is no libc.so.6, or it has no such function, libc_symbol is next_symbol; there is no such variable then (null).
symbol libc_symbol(const char *name);
void *libc_variable(const char *name);

// The file of libc, as in next_symbol_in; null: there is no libc.so.6.
const char *libc_object(void);

// Whether a handle of dlopen is libc's own, in the namespace of the program. The handle is not read.
bool is_libc_object(const void *handle);

// Whether this library exports a function of that name.
bool is_own_function(const char *name);

// The file that this library was loaded from, as the dynamic linker was told; "" if it does not know us.
const char *own_library_path(void);

#pragma GCC visibility pop
