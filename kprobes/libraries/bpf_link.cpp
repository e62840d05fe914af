// SPDX-License-Identifier: Apache-2.0
#include "kprobes/libraries/bpf_link.h"

#include <bpf/libbpf.h>

namespace mlrun::probes {

void LinkDeleter::operator()(bpf_link* link) const { ::bpf_link__destroy(link); }

}  // namespace mlrun::probes
