// SPDX-License-Identifier: Apache-2.0
// mlrun clean: removes arenas in shared memory that no mlrun holds any more.
#pragma once

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

Result<int> clean(const Arguments& arguments);

}  // namespace mlrun::commands
