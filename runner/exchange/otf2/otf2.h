// SPDX-License-Identifier: Apache-2.0
// OTF2, the format of Score-P and Vampir: an archive folder with all tables of events. Processes are location groups, threads and
// streams of GPUs are locations, calls are regions, calls on descriptors have I/O records, samples are metrics or calling contexts,
// and the other columns are attributes.
#pragma once

#include "runner/util/result.h"

namespace mlrun::exchange {

class Export;

Status write_otf2(Export& job);

}  // namespace mlrun::exchange
