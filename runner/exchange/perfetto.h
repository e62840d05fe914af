// SPDX-License-Identifier: Apache-2.0
// Perfetto's own format, for ui.perfetto.dev and its trace processor.
#pragma once

#include "runner/exchange/export.h"

namespace mlrun::exchange {

Status write_perfetto(Export& job);

}  // namespace mlrun::exchange
