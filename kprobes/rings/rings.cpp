// SPDX-License-Identifier: Apache-2.0
#include "kprobes/rings/rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

constexpr uint32_t kProcessorsOfARing = 8;
constexpr uint32_t kLeastBytes = 1 << 20;

uint32_t processors_of_a_ring() {
  const char* asked = ::secure_getenv(kRingProcessorsVariable);
  const long processors = asked == nullptr ? 0 : std::strtol(asked, nullptr, 10);
  return processors > 0 && processors <= UINT16_MAX ? static_cast<uint32_t>(processors) : kProcessorsOfARing;
}

// Counts only online processors: virtual machines list hundreds of possible ones, whose unused rings would take memory
// from the others.
size_t rings_for_online() {
  const long online = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  const uint32_t share = processors_of_a_ring();
  return (static_cast<size_t>(online) + share - 1) / share;
}

}  // namespace

Rings::Rings(bpf_map* one, bpf_map* table, uint32_t ring_bytes)
    : one_(one), table_(table), count_(rings_for_online()), bytes_(ring_bytes) {
  const auto all = static_cast<uint32_t>(::bpf_map__max_entries(one));
  if (bytes_ == 0) bytes_ = std::max(std::bit_floor(all / static_cast<uint32_t>(count_)), std::min(all, kLeastBytes));
  possible_ = static_cast<uint32_t>(std::max(1, ::libbpf_num_possible_cpus()));
  const auto page = static_cast<uint32_t>(::sysconf(_SC_PAGESIZE));
  ::bpf_map__set_max_entries(one, has_table() ? page : bytes_);  // with a table, `one` is unused: the least size
  if (has_table()) ::bpf_map__set_max_entries(table, possible_);
}

Status Rings::open() {
  if (has_table()) {
    if (Status filled = fill_table(); !filled) return filled;
  }
  std::vector<MappedRing> rings;
  for (size_t i = 0; i < count_; i++) {
    auto ring = MappedRing::map(has_table() ? of_table_[i].get() : ::bpf_map__fd(one_), bytes_);
    if (!ring) return tl::make_unexpected(ring.error());
    rings.push_back(std::move(*ring));
  }
  reader_.emplace(std::move(rings));
  return {};
}

// Creates the rings and enters them in the table: processors with adjacent numbers share a ring. Offline processors get
// an entry, too, since they may come online.
Status Rings::fill_table() {
  for (size_t i = 0; i < count_; i++) {
    util::UniqueFd ring(::bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, bytes_, nullptr));
    if (!ring.valid()) {
      const int error = errno;
      return fail_errno(fmt::format("make BPF ring {} of {}, {} each", i + 1, count_, util::size_text(bytes_)), error);
    }
    of_table_.push_back(std::move(ring));
  }
  const uint32_t share = processors_of_a_ring();
  for (uint32_t processor = 0; processor < possible_; processor++) {
    const int ring = of_table_[processor / share % count_].get();
    if (::bpf_map_update_elem(::bpf_map__fd(table_), &processor, &ring, BPF_ANY) == 0) continue;
    return fail_errno(fmt::format("give processor {} a BPF ring", processor), errno);
  }
  return {};
}

}  // namespace mlrun::probes
