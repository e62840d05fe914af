// SPDX-License-Identifier: Apache-2.0
// The purpose of a hooked function; a column of hooks.def and the groups of the summary.
#pragma once

enum mlrun_call_class {
  MLRUN_CLASS_READ,   // moves bytes from a file; the result is their number
  MLRUN_CLASS_WRITE,  // moves bytes into a file; the result is their number
  MLRUN_CLASS_OPEN,
  MLRUN_CLASS_CLOSE,
  MLRUN_CLASS_SEEK,
  MLRUN_CLASS_SYNC,
  MLRUN_CLASS_META,  // stat, unlink, rename, mkdir, directories: names and attributes, no data
  MLRUN_CLASS_MAP,
  MLRUN_CLASS_FD,       // dup, fcntl, pipe: descriptors
  MLRUN_CLASS_PROCESS,  // fork, exec, spawn, exit
  MLRUN_CLASS_COPY,     // moves bytes from one descriptor to another; the result is their number
  MLRUN_CLASS_WAIT,     // waits for another thread, a process, a descriptor or a time: no I/O time
};
