// SPDX-License-Identifier: Apache-2.0
// A folder that fio replays: an iolog of version 3 for each thread that read or wrote files, the job file, and a script that makes
// the files. File names are those of the trace below `files/`, so that a replay touches nothing else.
#pragma once

#include "runner/util/result.h"

namespace mlrun::exchange {

class Export;

Status write_fio(Export& job);

}  // namespace mlrun::exchange
