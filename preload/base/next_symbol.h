// SPDX-License-Identifier: Apache-2.0
// The function that a call would have reached without us: the default-version definition in the first object after
// ours, or if there is none, one of a retired version.
#pragma once

#include <stdbool.h>

#pragma GCC visibility push(hidden)

typedef void (*symbol)(void);

// Null if no object after ours defines `name`. Allocates nothing and takes no lock.
symbol next_symbol(const char *name);

// The same; *object is the file name of the object that defines it (the dynamic linker's string, "" for the program
// itself); its address also serves as the object's identity.
symbol next_symbol_in(const char *name, const char **object);

// The same, if the object that defines `other` for such a call defines `name` too and none before it does; else null. Objects behind it, which may be
// unloaded at any time, are not looked at.
symbol next_symbol_beside(const char *name, const char *other);

// The function of a retired version: libc keeps those for old programs where the behaviour has changed. If no object
// after ours has that version, the same as next_symbol.
symbol next_version(const char *name, const char *version);

// The first definition in any object but ours. A definition in the program itself precedes ours: our hook is never
// called.
symbol other_symbol_in(const char *name, const char **object);

// The first definition in an object in front of this library, mlrun's other library excluded: in the program itself, or
// in a library that is preloaded earlier. Calls of that name, also libc's, reach it instead of our hook. Null: none.
symbol symbol_in_front(const char *name);

// libc's functions and variables for this library's own use, even if the program or its libraries define the name. If
// there is no libc.so.6, or it lacks the function, libc_symbol is next_symbol; a missing variable is null.
symbol libc_symbol(const char *name);
void *libc_variable(const char *name);

// The file of libc, as in next_symbol_in; null: there is no libc.so.6.
const char *libc_object(void);

// Whether a dlopen handle is libc's own, in the program's namespace. The handle is not dereferenced.
bool is_libc_object(const void *handle);

// Whether this library exports a function of that name.
bool is_own_function(const char *name);

// The file that this library was loaded from, by the dynamic linker's list; "" if the list lacks it.
const char *own_library_path(void);

#pragma GCC visibility pop
