// SPDX-License-Identifier: Apache-2.0
// A rule as one line:
//
//   size >= 1M and worker -> node 1 strict
//   CONDITION [and CONDITION]... -> TARGET [strict] [huge] [budget SIZE] [heap memkind]
//
//   size >= 1M, size 64K..1M, size < 4M    the requested size; 64K and more if it is not said
//   mmap size >= 1M                        the program's own anonymous mappings instead of its blocks
//   library GLOB, function GLOB            the caller
//   site BUILDID+OFFSET[,...][;...]        the callers, innermost first; several signatures
//   main, worker, command GLOB             the process
//
//   node N[,M], interleave N,M, N:M node A,B, huge, default, near gpu N (as nvidia-smi numbers them),
//   dax-kmem, highest-capacity, lowest-latency, hbw, regular, pmem (a file in the folder of --pmem)
#pragma once

#include <string>

#include "runner/placement/rule.h"
#include "runner/util/result.h"

namespace mlrun::placement {

// An argument of --place without an arrow names a file of rules.
bool is_rule_text(const std::string& argument);

Result<Rule> parse_rule(const std::string& text);

}  // namespace mlrun::placement
