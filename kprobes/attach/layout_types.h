// SPDX-License-Identifier: Apache-2.0
// Writes a small BTF with the few types of the running kernel whose layouts the BPF programs need (CO-RE). libbpf
// searches the whole BTF that it is given for each of some sixty types: in the kernel's own, that is a hundred thousand
// types.
#pragma once

#include <vector>

#include "runner/util/result.h"

struct btf;

namespace mlrun::probes {

// Writes to `file` the structs, unions and enumerations whose names are in `named`, each from the first BTF in `kernel`
// that has it, with the types of their members. Pointers become pointers to void. Requires: all but the first BTF in
// `kernel` are split BTF based on the first.
Status write_layout_types(const btf* named, const std::vector<const btf*>& kernel, int file);

}  // namespace mlrun::probes
