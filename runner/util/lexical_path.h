// SPDX-License-Identifier: Apache-2.0
// Paths as text: nothing here accesses a file system.
#pragma once

#include <string>
#include <string_view>

namespace mlrun::trace {

// `path` made absolute with `base` (itself absolute; not used if `path` is), "." and ".." and double slashes resolved
// by the letter: "/a/link/../b" is "/a/b". A relative path without an absolute base stays relative.
std::string absolute_path(std::string_view base, std::string_view path);

// Everything before the last slash ("/" for "/a"); empty for a path without one.
std::string_view folder_of(std::string_view path);

// Offset of the first ".." component of the path; npos: none.
size_t parent_step(std::string_view path);

// The kernel's suffix for the name of a descriptor's unlinked file.
std::string_view without_deleted(std::string_view link_text);

// "pipe:[123]", "socket:[9]", "anon_inode:[eventpoll]", "/memfd:...": a descriptor's link text that is not a file name.
bool is_nameless(std::string_view link_text);

// "/dev/stdin", "/dev/fd/3", "/proc/self/fd/3", "/proc/12/fd/3/data": an open file of a process, so a different file
// for each process that uses the name.
bool names_descriptor(std::string_view path);

}  // namespace mlrun::trace
