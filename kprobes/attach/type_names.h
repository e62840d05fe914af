// SPDX-License-Identifier: Apache-2.0
// Names in BTF.
#pragma once

#include <bpf/btf.h>

#include <cstdint>
#include <string_view>

namespace mlrun::probes {

// The text at the offset in the BTF's strings; empty: there is none.
[[nodiscard]] inline std::string_view name_at(const btf* types, uint32_t offset) {
  const char* name = ::btf__name_by_offset(types, offset);
  return name != nullptr ? name : std::string_view();
}

}  // namespace mlrun::probes
