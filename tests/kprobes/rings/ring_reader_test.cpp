// SPDX-License-Identifier: Apache-2.0
// Tests that records of several rings come in order of time. A ring is a file in memory with the kernel's layout,
// written by the test like the kernel.
#include "kprobes/rings/ring_reader.h"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runner/events/kernel_record.h"
#include "runner/util/clock.h"
#include "runner/util/mapping.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {
namespace {

constexpr size_t kPage = 4096;

// Who writes: pid; which of its records: tid.
mlrun_kernel_head head_of(uint64_t time_ns, uint32_t pid, uint32_t tid) {
  mlrun_kernel_head head{};
  head.bytes = sizeof head;
  head.time_ns = time_ns;
  head.pid = pid;
  head.tid = tid;
  return head;
}

class WrittenRing {
 public:
  explicit WrittenRing(size_t bytes = kPage) : bytes_(bytes), file_(::memfd_create("ring", MFD_CLOEXEC)) {
    const size_t all = 2 * kPage + 2 * bytes;
    EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(all)), 0);
    memory_ = util::Mapping(::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0), all);
  }

  [[nodiscard]] MappedRing mapped() const { return std::move(*MappedRing::map(file_.get(), bytes_)); }

  // A place for such a record, with its lock taken as the kernel takes it; nothing where there is no room.
  std::optional<uint64_t> reserve() {
    const std::lock_guard lock(mutex_);
    const uint64_t place = written_, bytes = BPF_RINGBUF_HDR_SZ + sizeof(mlrun_kernel_head);
    if (place + bytes - word(0).load(std::memory_order_acquire) > bytes_) return std::nullopt;
    put_length(place, sizeof(mlrun_kernel_head) | BPF_RINGBUF_BUSY_BIT);
    written_ += bytes;
    word(kPage).store(written_, std::memory_order_release);
    return place;
  }
  void fill(uint64_t place, const mlrun_kernel_head& head) {
    const auto* from = reinterpret_cast<const char*>(&head);
    for (size_t i = 0; i < sizeof head; i++) {
      const size_t at = (place + BPF_RINGBUF_HDR_SZ + i) % bytes_;
      data()[at] = data()[at + bytes_] = from[i];
    }
    put_length(place, sizeof head);
  }
  void take_back(uint64_t place) { put_length(place, sizeof(mlrun_kernel_head) | BPF_RINGBUF_DISCARD_BIT); }
  void add(const mlrun_kernel_head& head) {
    const auto place = reserve();
    ASSERT_TRUE(place.has_value());
    fill(*place, head);
  }

 private:
  char* data() { return memory_.data() + 2 * kPage; }
  std::atomic_ref<uint64_t> word(size_t at) {
    return std::atomic_ref(*reinterpret_cast<uint64_t*>(memory_.data() + at));
  }
  void put_length(uint64_t place, uint32_t length) {
    std::atomic_ref(*reinterpret_cast<uint32_t*>(data() + place % bytes_)).store(length, std::memory_order_release);
  }

  size_t bytes_;
  util::UniqueFd file_;
  util::Mapping memory_;
  std::mutex mutex_;
  uint64_t written_ = 0;
};

class RingReaderTest : public testing::Test {
 protected:
  RingReaderTest() {
    std::vector<MappedRing> mapped;
    for (const WrittenRing& ring : rings_) mapped.push_back(ring.mapped());
    reader_ = std::make_unique<RingReader>(std::move(mapped));
  }

  // The times of what it hands over now.
  std::vector<uint64_t> drained() {
    std::vector<uint64_t> times;
    reader_->drain([&](const void* record, size_t bytes) {
      EXPECT_EQ(bytes, sizeof(mlrun_kernel_head));
      times.push_back(static_cast<const mlrun_kernel_head*>(record)->time_ns);
    });
    return times;
  }
  void add(size_t ring, uint64_t time_ns) { rings_[ring].add(head_of(time_ns, 0, 0)); }

  using Times = std::vector<uint64_t>;
  std::array<WrittenRing, 3> rings_;
  std::unique_ptr<RingReader> reader_;
};

TEST_F(RingReaderTest, RecordsOfSeveralRingsComeInOrderOfTime) {
  add(0, 10);
  add(0, 40);
  add(1, 20);
  add(2, 5);
  add(1, 30);
  EXPECT_EQ(drained(), (Times{5, 10, 20, 30, 40}));
  EXPECT_EQ(drained(), Times());
}

TEST_F(RingReaderTest, ARingKeepsItsOwnOrder) {
  add(0, 10);
  add(0, 8);
  add(1, 9);
  EXPECT_EQ(drained(), (Times{9, 10, 8}));
}

TEST_F(RingReaderTest, NothingPassesARecordThatIsStillBeingFilled) {
  const auto place = rings_[0].reserve();
  ASSERT_TRUE(place.has_value());
  add(0, 5);
  add(1, 10);
  EXPECT_EQ(drained(), Times());
  rings_[0].fill(*place, head_of(4, 0, 0));
  EXPECT_EQ(drained(), (Times{4, 5, 10}));
}

TEST_F(RingReaderTest, ADiscardedRecordIsNotHandedOut) {
  const auto place = rings_[0].reserve();
  ASSERT_TRUE(place.has_value());
  add(0, 5);
  add(1, 3);
  rings_[0].take_back(*place);
  EXPECT_EQ(drained(), (Times{3, 5}));
  rings_[1].take_back(*rings_[1].reserve());
  EXPECT_EQ(drained(), Times());
  add(1, 6);
  EXPECT_EQ(drained(), Times{6});
}

TEST_F(RingReaderTest, RecordsBeforeADiscardedOneAreTaken) {
  add(0, 3);
  const auto place = rings_[0].reserve();
  ASSERT_TRUE(place.has_value());
  add(1, 2);
  add(1, 10);
  EXPECT_EQ(drained(), (Times{2, 3}));
  rings_[0].fill(*place, head_of(4, 0, 0));
  EXPECT_EQ(drained(), (Times{4, 10}));
}

TEST_F(RingReaderTest, ARingIsUsedAgainAndAgain) {
  constexpr uint64_t kMany = 3 * kPage / sizeof(mlrun_kernel_head);
  for (uint64_t time = 0; time < kMany; time++) {
    add(time % rings_.size(), time);
    ASSERT_EQ(drained(), (Times{time}));
  }
}

// Writers go from ring to ring as threads go from processor to processor: the time, then the place, then what it says.
TEST(RingReaderThreads, ThreadsThatMigrateHaveTheirRecordsInOrder) {
  constexpr uint32_t kWriters = 3, kEach = 100'000;
  std::array<WrittenRing, 4> rings;
  std::vector<MappedRing> mapped;
  for (const WrittenRing& ring : rings) mapped.push_back(ring.mapped());
  RingReader reader(std::move(mapped));
  std::atomic<uint32_t> writing = kWriters;
  const auto write = [&](uint32_t writer) {
    std::minstd_rand random(writer + 1);
    for (uint32_t i = 0; i < kEach; i++) {
      WrittenRing& ring = rings[random() % rings.size()];
      const uint64_t time_ns = util::monotonic_ns();
      auto place = ring.reserve();
      for (; !place; place = ring.reserve()) std::this_thread::yield();
      ring.fill(*place, head_of(time_ns, writer, i));
    }
    --writing;
  };
  std::vector<uint32_t> next(kWriters), out_of_order(kWriters);
  const auto take = [&](const void* data, size_t) {
    const auto& head = *static_cast<const mlrun_kernel_head*>(data);
    out_of_order[head.pid] += head.tid == next[head.pid] ? 0 : 1;
    next[head.pid] = head.tid + 1;
  };
  {
    std::vector<std::jthread> threads;
    for (uint32_t writer = 0; writer < kWriters; writer++) threads.emplace_back(write, writer);
    while (writing != 0) reader.drain(take);
  }
  reader.drain(take);
  EXPECT_EQ(out_of_order, std::vector<uint32_t>(kWriters, 0));
  EXPECT_EQ(next, std::vector<uint32_t>(kWriters, kEach));
}

}  // namespace
}  // namespace mlrun::probes
