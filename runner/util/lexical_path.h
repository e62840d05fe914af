// SPDX-License-Identifier: Apache-2.0
// Paths as text: nothing here looks at a file system.
#pragma once

#include <string>
#include <string_view>

namespace mlrun::trace {

// `path` made absolute with `base` (itself absolute; not used if `path` is), "." and ".." and double slashes resolved
// by the letter: "/a/link/../b" is "/a/b". A relative path without an absolute base stays relative.
std::string absolute_path(std::string_view base, std::string_view path);

// Everything before the last slash ("/" for "/a"); empty for a path without one.
std::string_view folder_of(std::string_view path);

// Where the first ".." of the path begins that is a part of its own; npos: there is none.
size_t parent_step(std::string_view path);

// What the kernel adds to the name of a descriptor's file that has been unlinked.
std::string_view without_deleted(std::string_view link_text);

// "pipe:[123]", "socket:[9]", "anon_inode:[eventpoll]", "/memfd:...": a descriptor's text that is no name of a file.
bool is_nameless(std::string_view link_text);

// "/dev/stdin", "/dev/fd/3", "/proc/self/fd/3", "/proc/12/fd/3/data": means what a process has open, another file for each
// process that uses the name.
bool names_descriptor(std::string_view path);

}  // namespace mlrun::trace
