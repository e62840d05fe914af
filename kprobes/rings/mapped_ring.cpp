// SPDX-License-Identifier: Apache-2.0
#include "kprobes/rings/mapped_ring.h"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

namespace mlrun::probes {

namespace {

constexpr uint64_t kRecordAlign = 8;

size_t page_bytes() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

template <typename T>
T& shared(const char* at) {
  return *reinterpret_cast<T*>(const_cast<char*>(at));
}

}  // namespace

Result<MappedRing> MappedRing::map(int fd, size_t bytes) {
  const size_t page = page_bytes();
  util::Mapping ours(::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), page);
  if (!ours.valid()) return fail_errno("map the reader position of a BPF ring", errno);
  const size_t rest = page + 2 * bytes;
  util::Mapping kernels(::mmap(nullptr, rest, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(page)), rest);
  if (!kernels.valid()) return fail_errno("map the data of a BPF ring", errno);
  return MappedRing(std::move(ours), std::move(kernels), bytes);
}

MappedRing::MappedRing(util::Mapping ours, util::Mapping kernels, size_t bytes)
    : ours_(std::move(ours)),
      kernels_(std::move(kernels)),
      data_(kernels_.data() + page_bytes()),
      mask_(bytes - 1),
      position_(std::atomic_ref(shared<uint64_t>(ours_.data())).load(std::memory_order_relaxed)) {}

uint64_t MappedRing::written() const {
  return std::atomic_ref(shared<uint64_t>(kernels_.data())).load(std::memory_order_acquire);
}

MappedRing::Record MappedRing::next() const {
  const char* head = data_ + (position_ & mask_);
  const uint32_t length = std::atomic_ref(shared<uint32_t>(head)).load(std::memory_order_acquire);
  if ((length & BPF_RINGBUF_BUSY_BIT) != 0) return {};
  return {head + BPF_RINGBUF_HDR_SZ, length & ~uint32_t{BPF_RINGBUF_DISCARD_BIT},
          (length & BPF_RINGBUF_DISCARD_BIT) != 0};
}

void MappedRing::pass() {
  const uint64_t bytes = next().bytes + BPF_RINGBUF_HDR_SZ;
  position_ += (bytes + kRecordAlign - 1) / kRecordAlign * kRecordAlign;
  std::atomic_ref(shared<uint64_t>(ours_.data())).store(position_, std::memory_order_release);
}

}  // namespace mlrun::probes
