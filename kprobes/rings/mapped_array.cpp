// SPDX-License-Identifier: Apache-2.0
#include "kprobes/rings/mapped_array.h"

#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

namespace mlrun::probes {

Result<MappedArray> MappedArray::map(const bpf_map* map) {
  const size_t size = ::bpf_map__max_entries(map), value_bytes = ::bpf_map__value_size(map);
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t bytes = (size * value_bytes + page - 1) / page * page;
  util::Mapping memory(::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, ::bpf_map__fd(map), 0), bytes);
  if (!memory.valid()) return fail_errno(fmt::format("map the BPF array {}", ::bpf_map__name(map)), errno);
  return MappedArray(std::move(memory), size, value_bytes);
}

}  // namespace mlrun::probes
