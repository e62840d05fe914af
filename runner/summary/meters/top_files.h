// SPDX-License-Identifier: Apache-2.0
// The top files and directories, by bytes and by time, with their names.
#pragma once

#include "runner/model/file_table.h"
#include "runner/summary/meters/file_meter.h"
#include "runner/summary/meters/file_names.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// Fills files, files_touched, files_without_place, directories and directories_touched. A directory has the files
// directly in it. has_page_cache: the meter's misses are valid.
void put_top_files(const FileMeter& meter, const FileNames& names, const model::FileTable& files, bool has_page_cache,
                   Summary& summary);

}  // namespace mlrun::summary
