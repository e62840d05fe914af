// SPDX-License-Identifier: Apache-2.0
// The output of `visualize.py --list` and `--stat` of osmhpi/heimdallr, for scripts that read it. PROG.MODE.RUN is the folder of
// a run.
#pragma once

#include <string>

#include "runner/sweep/store/rows.h"

namespace mlrun::sweep {

// One line, "%3d: prog.mode.run", for each program and mode that has a successful run. It names the first such run; %3d is that run's number.
std::string heimdallr_list(const Sweep& sweep);

// CSV: prog,mode,reps, and median, minimum, maximum, mean and sample deviation of user, system and elapsed time in seconds. The
// deviation of a single run is 0.
std::string heimdallr_stat(const Sweep& sweep);

}  // namespace mlrun::sweep
