// SPDX-License-Identifier: Apache-2.0
// A small BTF with the few types of the running kernel whose layout the BPF programs ask for (CO-RE). libbpf searches
// all types that it is given for each type that the programs name: a hundred thousand for each of some sixty.
#pragma once

#include <vector>

#include "runner/util/result.h"

struct btf;

namespace mlrun::probes {

// A file in memory with the structs, unions and enumerations that `named` names too, each from the first of `kernel`
// that has it, and the types of their members. Pointers in it point to nothing. Requires: all but the first of `kernel`
// are split BTF based on the first.
Status write_layout_types(const btf* named, const std::vector<const btf*>& kernel, int file);

}  // namespace mlrun::probes
