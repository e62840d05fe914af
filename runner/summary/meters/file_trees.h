// SPDX-License-Identifier: Apache-2.0
// Files by time. A tree of folders is one row: that of the largest folder in which no few parts have most of the time.
//
//   /data/set/0/*.jpg
//   /data/set/1/*.jpg  ->  /data/set/  384 folders, 38,400 files
//   ...
#pragma once

#include <string_view>
#include <vector>

#include "runner/model/file_table.h"
#include "runner/summary/meters/file_meter.h"
#include "runner/summary/meters/file_names.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// Returns at most kTreesMost rows by time, then one row for imports and one for all other files.
[[nodiscard]] std::vector<FileTree> file_trees(const FileMeter& meter, const FileNames& names,
                                               const model::FileTable& files);

inline constexpr size_t kTreesMost = 100;

// Modules of Python, libraries of programs, and folders with them.
[[nodiscard]] bool is_import(std::string_view path);

}  // namespace mlrun::summary
