// SPDX-License-Identifier: Apache-2.0
#include "kprobes/libraries/probe_layouts.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mlrun::probes {

Result<uint64_t> ProbeLayouts::add(const mlrun_probe_layout& layout) {
  const auto is_same = [&](const mlrun_probe_layout& one) { return std::memcmp(&one, &layout, sizeof one) == 0; };
  const auto known = std::find_if(layouts_.begin(), layouts_.end(), is_same);
  const auto number = static_cast<uint32_t>(known - layouts_.begin());
  if (known != layouts_.end()) return number;
  if (number == MLRUN_PROBE_LAYOUTS_MAX) return fail("the traced libraries have too many different argument layouts");
  if (::bpf_map_update_elem(map_, &number, &layout, BPF_ANY) != 0) {
    return fail_errno("write its argument layout to the kernel", errno);
  }
  layouts_.push_back(layout);
  return number;
}

}  // namespace mlrun::probes
