// SPDX-License-Identifier: Apache-2.0
// What a trace is named after: the script of an interpreter or a launcher, else the program.
#pragma once

#include <string>
#include <vector>

namespace mlrun::launch {

// "train" for `python -u train.py`, `torchrun --nproc_per_node 2 train.py` and `bash train.sh`, "pkg.mod" for
// `python -m pkg.mod`; for other commands the program's file name. Of an argument only what is a script's or a module's name
// is taken: a value of an option, an assignment or the text of -c may be a secret.
std::string trace_name(const std::vector<std::string>& command);

}  // namespace mlrun::launch
