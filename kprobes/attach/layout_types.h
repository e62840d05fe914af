// SPDX-License-Identifier: Apache-2.0
// The few types of the running kernel whose layout the BPF programs ask for (CO-RE), as BTF of their own. libbpf goes through
// all types that it is given for each type that the programs name: a hundred thousand for each of some sixty.
#pragma once

#include <vector>

#include "runner/util/result.h"

struct btf;

namespace mlrun::probes {

// A file in memory with the structs, unions and enumerations whose names `named` has too, from the first of `kernel` that has
// that name, and what lies in them. Pointers in it point to nothing. Requires: all but the first of `kernel` go on from that.
Status write_layout_types(const btf* named, const std::vector<const btf*>& kernel, int file);

}  // namespace mlrun::probes
