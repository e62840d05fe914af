// SPDX-License-Identifier: Apache-2.0
// Paths as text: nothing here accesses a file system.
#pragma once

#include <string>
#include <string_view>

namespace mlrun::util {

// `path` made absolute: a relative one is taken from the folder `base`, which is absolute. Resolves ".", ".." and double
// slashes without following links: "/a/link/../b" becomes "/a/b". Without an absolute base a relative path stays relative.
std::string absolute_path(std::string_view base, std::string_view path);

// Everything before the last slash ("/" for "/a"); empty for a path without one.
std::string_view folder_of(std::string_view path);

// Offset of the first ".." component of the path; npos: none.
size_t parent_step(std::string_view path);

// The link text without " (deleted)", which the kernel appends to the path of an unlinked file.
std::string_view without_deleted(std::string_view link_text);

// Is a descriptor's link text not a file name, as "pipe:[123]", "socket:[9]", "anon_inode:[eventpoll]" or "/memfd:..."?
bool is_nameless(std::string_view link_text);

// Does the path name an open file of a process, as "/dev/stdin", "/dev/fd/3", "/proc/self/fd/3" or "/proc/12/fd/3/data"?
// Such a path can be another file in each process that uses it.
bool names_descriptor(std::string_view path);

}  // namespace mlrun::util
