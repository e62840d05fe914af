// SPDX-License-Identifier: Apache-2.0
// Makes a large spool for measurements of the merge: mallocs and frees, and reads of 4 KiB at random offsets of a 64
// GiB file, by several threads over the same time.
//
//   make_spool FOLDER EVENTS [CHANNELS [PERCENT_OF_CALLS]]      then: mlrun-trace merge FOLDER
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <vector>

#include "tests/runner/trace/spool_writer.h"

namespace {

using namespace mlrun::testing;

constexpr uint64_t kPages = (uint64_t{64} << 30) / 4096;
constexpr uint64_t kFrameBytes = 60 << 10;
constexpr uint64_t kAnchorPauseNs = 100'000'000;
constexpr size_t kLiveBlocks = 2000;

// One thread's life.
struct Thread {
  RecordBuffer records;
  uint64_t now_ns = 0;
  std::deque<uint64_t> live;
  uint64_t next_address = 0x7f0000000000;
};

class Maker {
 public:
  Maker(uint64_t channels, uint64_t percent_of_calls) : threads_(channels), percent_of_calls_(percent_of_calls) {
    spool_.add_anchor(0);
    for (size_t i = 0; i < threads_.size(); ++i) begin_thread(i);
  }

  void add_event() {
    Thread& thread = threads_[random_() % threads_.size()];
    thread.now_ns = std::max(thread.now_ns, now_ns_);
    if (random_() % 100 < percent_of_calls_) {
      add_read(thread);
    } else {
      add_allocation(thread);
    }
    now_ns_ += 300 / threads_.size() + random_() % (800 / threads_.size());
    if (thread.records.bytes() > kFrameBytes) flush(static_cast<size_t>(&thread - threads_.data()));
    if (now_ns_ >= next_anchor_ns_) spool_.add_anchor(next_anchor_ns_);
    if (now_ns_ >= next_anchor_ns_) next_anchor_ns_ += kAnchorPauseNs;
  }

  SpoolWriter& finish() {
    for (size_t i = 0; i < threads_.size(); ++i) flush(i);
    spool_.add_anchor(now_ns_ + kAnchorPauseNs);
    return spool_;
  }

 private:
  void begin_thread(size_t index) {
    const auto number = static_cast<uint32_t>(index);
    ChannelFacts facts;
    facts.serial = index + 1;
    facts.tid = facts.pid + number;
    spool_.add_channel(facts);
    RecordBuffer& records = threads_[index].records;
    const uint64_t path = records.add_string("/data/set/case_" + std::to_string(index) + ".npy");
    records.add(OpenFileRecord{.number = number + 1, .inode = 1000 + index, .path = path});
    records.add(PathCall{
        .start = 0, .duration = 100, .fd = static_cast<int32_t>(number) + 3, .path = path, .open_file = number + 1});
    threads_[index].next_address += index << 32;
  }

  void add_read(Thread& thread) {
    const auto number = static_cast<uint32_t>(&thread - threads_.data());
    const uint64_t duration = 200 + random_() % 128 + (random_() % 100 != 0 ? 0 : random_() % 50000);
    thread.records.add(DescriptorCall{mlrun::events::func::k_pread, ticks_at(thread.now_ns), ticks_at(duration),
                                      static_cast<int32_t>(number) + 3, 4096, 4096, random_() % kPages * 4096,
                                      number + 1});
    thread.now_ns += duration;
  }

  void add_allocation(Thread& thread) {
    if (thread.live.size() >= kLiveBlocks) {
      thread.records.add(Allocation{.kind = MLRUN_FREE,
                                    .start = ticks_at(thread.now_ns),
                                    .address = thread.live.front(),
                                    .size = 4104,
                                    .usable = 4104});
      thread.live.pop_front();
      return;
    }
    const uint64_t size = 1024 + random_() % 64 * 64;
    thread.records.add(Allocation{.start = ticks_at(thread.now_ns),
                                  .address = thread.next_address,
                                  .size = size,
                                  .usable = size + 8,
                                  .site = 0x7f1234560000 + random_() % 200 * 32});
    thread.live.push_back(thread.next_address);
    thread.next_address += 4112 + random_() % 16 * 16;
    if (random_() % 1000 == 0) thread.next_address -= 2000 * 4112;
  }

  void flush(size_t index) {
    spool_.pass_at(now_ns_);
    spool_.add_data(index + 1, threads_[index].records);
  }

  SpoolWriter spool_;
  std::vector<Thread> threads_;
  uint64_t percent_of_calls_;
  std::mt19937_64 random_{1};
  uint64_t now_ns_ = 0, next_anchor_ns_ = kAnchorPauseNs;
};

uint64_t number_at(char** argv, int argc, int index, uint64_t otherwise) {
  return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: make_spool FOLDER EVENTS [CHANNELS [PERCENT_OF_CALLS]]\n");
    return 2;
  }
  Maker maker(number_at(argv, argc, 3, 8), number_at(argv, argc, 4, 30));
  for (uint64_t left = number_at(argv, argc, 2, 0); left != 0; --left) maker.add_event();
  maker.finish().write(argv[1]);
}
