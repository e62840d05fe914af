// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/disk_source.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runner/samplers/proc/kernel_texts.h"

namespace mlrun::machine {

namespace {

constexpr size_t kPartitionsMax = 10'000;
constexpr int64_t kSectorBytes = 512, kMsNs = 1'000'000;  // units of /proc/diskstats, for any device
constexpr size_t kFieldsOfLinux24 = 11;                   // shorter lines are partitions before Linux 2.6.25

struct Field {
  int64_t unit;
  Counts counts;
};

constexpr Field field_of(size_t field) {
  switch (static_cast<mlrun_disk_field>(field)) {
    case MLRUN_DISK_READ_BYTES:
    case MLRUN_DISK_WRITTEN_BYTES:
    case MLRUN_DISK_DISCARDED_BYTES: return {kSectorBytes, Counts::kTotal};
    case MLRUN_DISK_READ_NS:
    case MLRUN_DISK_WRITE_NS:
    case MLRUN_DISK_BUSY_NS:
    case MLRUN_DISK_QUEUE_NS:
    case MLRUN_DISK_DISCARD_NS:
    case MLRUN_DISK_FLUSH_NS: return {kMsNs, Counts::kTotal32};
    case MLRUN_DISK_IN_FLIGHT: return {1, Counts::kNow};
    case MLRUN_DISK_READS:
    case MLRUN_DISK_READS_MERGED:
    case MLRUN_DISK_WRITES:
    case MLRUN_DISK_WRITES_MERGED:
    case MLRUN_DISK_DISCARDS:
    case MLRUN_DISK_DISCARDS_MERGED:
    case MLRUN_DISK_FLUSHES:
    case MLRUN_DISK_FIELDS: break;
  }
  return {1, Counts::kTotal};
}

auto disk_kinds() {
  std::array<Counts, MLRUN_DISK_FIELDS> kinds{};
  for (size_t i = 0; i < kinds.size(); ++i) kinds[i] = field_of(i).counts;
  return kinds;
}

}  // namespace

DiskSource::DiskSource(const Places& places)
    : sys_(places.sys), diskstats_(places.proc + "/diskstats"), differences_(disk_kinds()) {}

std::vector<std::string> DiskSource::problems() const {
  if (!works()) return {"/proc/diskstats cannot be opened (a container may hide it): no samples of disks"};
  if (::access((sys_ + "/dev/block").c_str(), F_OK) != 0)
    return {
        "no /sys/dev/block (a container may hide it): partitions have rows too, so their bytes are also in those of "
        "their disk"};
  return {};
}

bool DiskSource::is_partition(const Device& device, uint32_t major, uint32_t minor) {
  if (partitions_.size() > kPartitionsMax) partitions_.clear();
  const auto [known, is_new] = partitions_.try_emplace(device);
  if (is_new)
    known->second = ::access(fmt::format("{}/dev/block/{}:{}/partition", sys_, major, minor).c_str(), F_OK) == 0;
  return known->second;
}

//  254  0 vda 10112038 205880 2261160226 ...   11 numbers, 15 from Linux 4.18 on, 17 from 5.5 on
void DiskSource::sample(uint64_t now_ns, Batch& batch) {
  differences_.begin(now_ns);
  proc::for_each_line(diskstats_.read(room_), [&](std::string_view line) {
    mlrun_disk_sample sample{};
    uint64_t major = 0, minor = 0;
    proc::Numbers ids(line);
    if (!ids.next(major) || !ids.next(minor)) return;
    const size_t name = line.find_first_not_of(" 0123456789");
    if (name == std::string_view::npos) return;
    const size_t end = std::min(line.find(' ', name), line.size());
    const std::string_view device = line.substr(name, end - name);
    proc::Numbers numbers(line.substr(end));
    auto values = decltype(differences_)::unknown();
    size_t count = 0;
    bool is_used = false;
    for (uint64_t value = 0; count < values.size() && numbers.next(value); ++count) {
      values[count] = static_cast<int64_t>(value);
      is_used = is_used || value != 0;
    }
    if (count < kFieldsOfLinux24) return;
    sample.major = static_cast<__u32>(major);
    sample.minor = static_cast<__u32>(minor);
    const Device key(sample.major << 20 | sample.minor, device);
    if (is_partition(key, sample.major, sample.minor)) return;
    std::memcpy(sample.name, device.data(), std::min(device.size(), sizeof sample.name));
    // The zeros of an unused device count as a sample, so that its first request is in its first row.
    if (!differences_.step(key, values, sample) || !is_used) return;
    for (size_t i = 0; i < values.size(); ++i) {
      if (sample.values[i] != MLRUN_NOT_KNOWN) sample.values[i] *= field_of(i).unit;
    }
    batch.add(MLRUN_SAMPLE_DISK, sample);
  });
  differences_.end();
}

}  // namespace mlrun::machine
