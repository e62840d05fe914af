// SPDX-License-Identifier: Apache-2.0
// Rows to which kernel-side records are joined.
#pragma once

#include <initializer_list>

#include "runner/model/file_table.h"
#include "runner/model/rows.h"
#include "runner/trace/files/device_number.h"

namespace mlrun::trace {

inline model::CallRow call(int32_t tid, int64_t ts_ns, int64_t dur_ns) {
  model::CallRow row;
  row.origin.tid = tid;
  row.origin.ts_ns = ts_ns;
  row.dur_ns = dur_ns;
  return row;
}

// Several paths of one inode of the device 254:0.
inline model::FileTable files_of_inode_12(std::initializer_list<const char*> paths) {
  model::FileTable files;
  for (const char* path : paths) {
    model::FileRow file;
    file.path = path;
    file.dev = stat_device(254u << 20);
    file.ino = 12;
    files.push_back(file);
  }
  return files;
}

}  // namespace mlrun::trace
