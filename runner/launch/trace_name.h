// SPDX-License-Identifier: Apache-2.0
// What a trace is named after: the script of an interpreter or a launcher, else the program.
#pragma once

#include <string>
#include <vector>

namespace mlrun::launch {

// "train" for `python -u train.py`, `torchrun --nproc_per_node 2 train.py` and `bash train.sh`, "pkg.mod" for
// `python -m pkg.mod`; for other commands the program's file name. Only names of scripts and modules are taken from
// arguments: an option's value, an assignment or the text of -c may be a secret.
std::string trace_name(const std::vector<std::string>& command);

}  // namespace mlrun::launch
