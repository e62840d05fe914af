// SPDX-License-Identifier: Apache-2.0
// The JSON of chrome://tracing, which most viewers read; compressed if the name of the output ends with .gz.
#pragma once

#include "runner/exchange/export.h"

namespace mlrun::exchange {

Status write_chrome(Export& job);

}  // namespace mlrun::exchange
