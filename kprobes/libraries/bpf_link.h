// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

struct bpf_link;

namespace mlrun::probes {

// An attached program or probe, released by its destruction.
struct LinkDeleter {
  void operator()(bpf_link* link) const;
};
using Link = std::unique_ptr<bpf_link, LinkDeleter>;

}  // namespace mlrun::probes
