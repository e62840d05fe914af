// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/perf_events.h"

#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace mlrun::access {

namespace {

constexpr uint64_t kFormatLost = 1U << 4;  // PERF_FORMAT_LOST, Linux 6.0; older headers do not name it

// Powers of two, as the kernel requires. An ordinary user has kUserPages for each processor; each ring has one more, its head.
constexpr size_t kRingPages = 256, kUserPages = 129, kFewestPages = 8;

// Older kernels refuse what they do not know; `attr` is left as it was accepted.
util::UniqueFd open_event(perf_event_attr& attr, pid_t pid, int cpu, int leader) {
  const auto open = [&] {
    return util::UniqueFd(
        static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC)));
  };
  util::UniqueFd event = open();
  if (!event.valid() && errno == EINVAL && attr.read_format != 0) {
    attr.read_format = 0;  // the kernel is older than PERF_FORMAT_LOST
    event = open();
  }
  if (!event.valid() && errno == EINVAL && (attr.sample_type & PERF_SAMPLE_DATA_PAGE_SIZE) != 0) {
    attr.sample_type &= ~uint64_t{PERF_SAMPLE_DATA_PAGE_SIZE};  // older than Linux 5.11
    event = open();
  }
  return event;
}

std::string why(int error, int cpu, const perf_event_attr& attr, const std::string& if_invalid) {
  std::string text = fmt::format("processor {}: {}", cpu, std::strerror(error));
  if (error == EACCES || error == EPERM)
    return text + fmt::format("; set kernel.perf_event_paranoid to {} or less; in a container, allow perf_event_open",
                              attr.exclude_kernel != 0 ? 2 : 1);
  if (error == EINVAL && !if_invalid.empty()) return text + "; " + if_invalid;
  if (error == EMFILE) return text + "; raise the limit of open files (ulimit -n)";
  return text;
}

bool has_ipc_lock() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  return ::syscall(SYS_capget, &header, sets.data()) == 0 && (sets[0].effective >> CAP_IPC_LOCK & 1) != 0;
}

}  // namespace

util::IdList online_processors() { return util::read_id_list("/sys/devices/system/cpu/online"); }

perf_event_attr sampled_event() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.sample_type = kEventSample;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.disabled = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 0;
  return attr;
}

bool may_count_kernel() {
  perf_event_attr attr = sampled_event();
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.exclude_kernel = 0;
  return open_event(attr, 0, -1, -1).valid();
}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : event_(std::move(other.event_)),
      page_(std::exchange(other.page_, nullptr)),
      bytes_(other.bytes_),
      counts_lost_(other.counts_lost_),
      recorded_lost_(other.recorded_lost_),
      counted_lost_(other.counted_lost_) {}

PerfRing::~PerfRing() {
  if (page_ != nullptr) ::munmap(page_, bytes_);
}

int PerfRing::map(util::UniqueFd event, size_t pages, bool counts_lost) {
  counts_lost_ = counts_lost;
  bytes_ = (pages + 1) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
  if (at == MAP_FAILED) return errno;
  page_ = static_cast<perf_event_mmap_page*>(at);
  event_ = std::move(event);
  return 0;
}

void PerfRing::drain(uint64_t sample_type, const std::function<void(const decode::PerfSample&)>& visit) {
  const char* const data = reinterpret_cast<const char*>(page_) + page_->data_offset;
  const uint64_t size = page_->data_size, head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
  uint64_t at = page_->data_tail;
  std::vector<char> record;
  while (at < head) {
    perf_event_header header{};
    std::memcpy(&header, data + at % size, sizeof header);  // never wraps: records are aligned to the header's size
    if (header.size < sizeof header || at + header.size > head) break;
    record.resize(header.size);
    const uint64_t first = std::min<uint64_t>(header.size, size - at % size);
    std::memcpy(record.data(), data + at % size, first);
    std::memcpy(record.data() + first, data, header.size - first);
    const std::span<const char> body = std::span<const char>(record).subspan(sizeof header);
    if (header.type == PERF_RECORD_SAMPLE) {
      if (const auto sample = decode::read_sample(sample_type, body)) visit(*sample);
    } else if (header.type == PERF_RECORD_LOST && body.size() >= 2 * sizeof(uint64_t)) {
      uint64_t count = 0;  // follows the event's id in the record
      std::memcpy(&count, body.data() + sizeof(uint64_t), sizeof count);
      recorded_lost_ += count;
    }
    at += header.size;
  }
  __atomic_store_n(&page_->data_tail, head, __ATOMIC_RELEASE);
}

// A LOST record comes only with the next sample. The event's own count, if it has one, also includes the samples lost last.
uint64_t PerfRing::take_lost() {
  const uint64_t recorded = std::exchange(recorded_lost_, 0);
  std::array<uint64_t, 2> counts{};  // samples, lost
  if (!counts_lost_ || ::read(event_.get(), counts.data(), sizeof counts) != sizeof counts) return recorded;
  return counts[1] - std::exchange(counted_lost_, counts[1]);
}

size_t ring_pages(size_t events, bool may_lock_more) {
  return may_lock_more ? kRingPages : std::bit_floor(kUserPages / std::max<size_t>(events, 1) - 1);
}

PerfEvents::Problem PerfEvents::open_one(Opened& one, pid_t pid, size_t pages) {
  perf_event_attr& attr = one.event.attr;
  const util::IdList& cpus = one.event.cpus;
  for (const uint32_t processor : online_processors()) {
    if (!cpus.empty() && !std::binary_search(cpus.begin(), cpus.end(), processor)) continue;
    const auto cpu = static_cast<int>(processor);
    int leader = -1;
    if (one.event.leader) {
      one.leaders.push_back(open_event(*one.event.leader, pid, cpu, -1));
      leader = one.leaders.back().get();
      if (leader < 0) return {"its leader, " + why(errno, cpu, *one.event.leader, one.event.if_invalid)};
    }
    util::UniqueFd event = open_event(attr, pid, cpu, leader);
    if (!event.valid()) return {why(errno, cpu, attr, one.event.if_invalid)};
    PerfRing ring;
    if (const int error = ring.map(std::move(event), pages, attr.read_format != 0); error != 0)
      return {fmt::format("the event's buffer cannot be mapped: {}; raise kernel.perf_event_mlock_kb",
                          std::strerror(error)),
              true};
    one.rings.push_back(std::move(ring));
  }
  return one.rings.empty() ? Problem{"none of its processors is online"} : Problem{};
}

std::vector<std::string> PerfEvents::open(const std::vector<AccessEvent>& wanted, pid_t pid, bool on_exec) {
  std::vector<std::string> problems;
  bool fits = false;
  for (size_t pages = ring_pages(wanted.size(), has_ipc_lock()); pages >= kFewestPages && !fits; pages /= 2) {
    opened_.clear();
    problems.clear();
    fits = true;
    for (const AccessEvent& event : wanted) {
      Opened one{event, {}, {}};
      one.event.attr.read_format = kFormatLost;
      for (perf_event_attr* attr : {&one.event.attr, one.event.leader ? &*one.event.leader : nullptr}) {
        if (attr == nullptr) continue;
        attr->inherit = 1;
        attr->enable_on_exec = on_exec ? 1 : 0;
      }
      const Problem problem = open_one(one, pid, pages);
      fits = fits && !problem.is_of_ring;
      if (problem.text.empty()) {
        opened_.push_back(std::move(one));
      } else {
        problems.push_back(event.name + ": " + problem.text);
      }
    }
  }
  if (!on_exec) enable(true);
  return problems;
}

void PerfEvents::enable(bool on) {
  for (const Opened& one : opened_) {
    for (const PerfRing& ring : one.rings)
      ::ioctl(ring.event(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
  }
}

void PerfEvents::drain(const std::function<void(const AccessEvent&, const decode::PerfSample&)>& visit) {
  for (Opened& one : opened_) {
    for (PerfRing& ring : one.rings)
      ring.drain(one.event.attr.sample_type, [&](const decode::PerfSample& sample) { visit(one.event, sample); });
  }
}

uint64_t PerfEvents::take_lost() {
  uint64_t lost = 0;
  for (Opened& one : opened_) {
    for (PerfRing& ring : one.rings) lost += ring.take_lost();
  }
  return lost;
}

}  // namespace mlrun::access
