// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/page_join.h"

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

constexpr uint64_t kFirstBlock = 0x7e0000000000, kSecondBlock = kFirstBlock + (64 << 20),
                   kPagedBytes = 16 * kAccessPage;
constexpr int64_t kPageSecond = 1'000'000'000;

model::TraceInfo parent_of_pages() {
  model::TraceInfo info;
  model::ProcessRow row;
  row.proc_id = 1;
  row.last_ns = 20 * kPageSecond;
  row.end = "exit";
  info.processes.push_back(row);
  row.proc_id = 2;
  row.parent_proc_id = 1;
  row.forked = true;
  row.first_ns = 5 * kPageSecond;
  info.processes.push_back(row);
  return info;
}

class SampledPages {
 public:
  explicit SampledPages(const SampledMemory& sampled = {}, const std::vector<RecordingPause>& pauses = {})
      : info_(parent_of_pages()), join_(info_, 1024, pauses, sampled) {}

  void allocate(int64_t at_s, uint64_t address, int64_t offset, uint64_t bytes = kPagedBytes) {
    join_.add(AllocEvent{.proc_id = 1,
                         .begin_ns = at_s * kPageSecond,
                         .end_ns = at_s * kPageSecond,
                         .address = address,
                         .bytes = bytes,
                         .site = {1, 7, offset, 0}});
  }
  void free(int64_t at_s, uint64_t address) {
    join_.add(AllocEvent{.proc_id = 1,
                         .is_free = true,
                         .begin_ns = at_s * kPageSecond,
                         .end_ns = at_s * kPageSecond,
                         .address = address,
                         .site = {}});
  }
  // The first pages from an address on, in one sample.
  void sample(int64_t at_s, uint64_t address, int pages, int16_t node = 0, int32_t proc_id = 1, int16_t rule = 0,
              uint32_t pid = 0) {
    for (int i = 0; i < pages; i++) {
      const mlrun_page_sample page{.monotonic_ns = static_cast<__u64>(at_s),
                                   .address = address + static_cast<uint64_t>(i) * kAccessPage,
                                   .bytes = 1000,
                                   .host_pid = pid == 0 ? static_cast<__u32>(proc_id) : pid,
                                   .rule = rule,
                                   .node = node};
      join_.add(page, proc_id, at_s * kPageSecond);
    }
  }
  void finish() { join_.finish(20 * kPageSecond); }
  // offset: of the site; 0: no listed block.
  model::PagesFound of(int64_t offset, int32_t proc_id = 1, int32_t rule = 0) const {
    const auto found = join_.sites().find({rule, {proc_id, offset == 0 ? 0 : 7, offset, 0}});
    return found == join_.sites().end() ? model::PagesFound() : found->second;
  }
  size_t count() const { return join_.sites().size(); }

 private:
  model::TraceInfo info_;
  PageJoin join_;
};

double mean_bytes(const model::PagesFound& found, int node = 0) {
  const auto sum = found.bytes.find(node);
  return sum == found.bytes.end() ? 0 : sum->second / static_cast<double>(found.full_samples);
}

TEST(PageJoin, EachSiteHasItsPagesByNodeAndTheSamplesThatFoundThem) {
  SampledPages pages;
  pages.allocate(1, kFirstBlock, 16);
  pages.sample(2, kFirstBlock, 10, 1);
  pages.allocate(3, kSecondBlock, 32);
  pages.sample(4, kFirstBlock, 10, 1);
  pages.sample(4, kSecondBlock, 4, 0);
  pages.sample(4, kSecondBlock, 2, 1);
  pages.finish();
  EXPECT_EQ(pages.count(), 2u);
  EXPECT_EQ(pages.of(16).samples, 2u);
  EXPECT_EQ(pages.of(16).sampled, (std::map<int, uint64_t>{{1, 20}}));
  EXPECT_DOUBLE_EQ(mean_bytes(pages.of(16), 1), 10'000.0);
  EXPECT_EQ(pages.of(32).samples, 1u) << "a sample is one, on all nodes";
  EXPECT_EQ(pages.of(32).sampled, (std::map<int, uint64_t>{{0, 4}, {1, 2}}));
  EXPECT_DOUBLE_EQ(mean_bytes(pages.of(32)), 2000.0) << "the mean of both samples";
}

// Ten sites of a thousandth of the memory each: each of ten samples with 100 pages has one page of one of them.
TEST(PageJoin, SmallSitesHaveNoMoreThanTheirShareOfTheMemory) {
  SampledPages pages;
  pages.allocate(1, kFirstBlock, 1000, 100 * kAccessPage);
  for (int site = 0; site < 10; site++) pages.allocate(1, kSecondBlock + site * kPagedBytes, 16 + site);
  for (int sample = 0; sample < 10; sample++) {
    pages.sample(2 + sample, kFirstBlock, 99);
    pages.sample(2 + sample, kSecondBlock + sample * kPagedBytes, 1);
  }
  pages.finish();
  for (int site = 0; site < 10; site++) {
    const model::PagesFound found = pages.of(16 + site);
    EXPECT_EQ(found.samples, 1u);
    EXPECT_EQ(found.sampled, (std::map<int, uint64_t>{{0, 1}}));
    EXPECT_DOUBLE_EQ(mean_bytes(found), 100.0);
  }
  EXPECT_DOUBLE_EQ(mean_bytes(pages.of(1000)), 99'000.0);
}

TEST(PageJoin, ALargeSiteHasTheMeanOfTheSamplesInWhichItWasThere) {
  SampledPages pages;
  pages.allocate(1, kFirstBlock, 16);
  pages.allocate(1, kSecondBlock, 32, 100 * kAccessPage);
  pages.sample(2, kFirstBlock, 10);
  for (int at = 3; at < 6; at++) {
    pages.sample(at, kFirstBlock, 10);
    pages.sample(at, kSecondBlock, 100);
  }
  pages.finish();
  EXPECT_DOUBLE_EQ(mean_bytes(pages.of(16)), 10'000.0);
  EXPECT_DOUBLE_EQ(mean_bytes(pages.of(32)), 100'000.0);
}

TEST(PageJoin, APageIsThatOfTheBlockInItsMiddle) {
  SampledPages pages;
  pages.allocate(1, kFirstBlock + 16, 16);
  pages.allocate(1, kSecondBlock + kAccessPage - 64, 32);
  pages.sample(2, kFirstBlock, 1);
  pages.sample(2, kSecondBlock, 1);
  pages.finish();
  EXPECT_EQ(pages.of(16).sampled[0], 1u);
  EXPECT_EQ(pages.of(32).samples, 0u);
  EXPECT_EQ(pages.of(0).sampled[0], 1u) << "in no listed block";
}

TEST(PageJoin, AnAddressThatIsUsedAgainIsOfTheBlockThatIsThere) {
  SampledPages pages;
  pages.allocate(1, kFirstBlock, 16);
  pages.sample(2, kFirstBlock, 3);
  pages.free(3, kFirstBlock);
  pages.sample(4, kFirstBlock, 5);
  pages.allocate(5, kFirstBlock, 32);
  pages.sample(6, kFirstBlock, 7);
  pages.finish();
  EXPECT_EQ(pages.of(16).sampled[0], 3u);
  EXPECT_EQ(pages.of(0).sampled[0], 5u);
  EXPECT_EQ(pages.of(32).sampled[0], 7u);
}

TEST(PageJoin, RulesAndMemoryUnderThePolicyAreApart) {
  SampledPages pages;
  pages.allocate(1, kFirstBlock, 16);
  pages.sample(2, kFirstBlock, 3, 0, 1, 1);
  pages.sample(2, kFirstBlock, 2, 0, 1, -1);
  pages.finish();
  EXPECT_EQ(pages.of(16, 1, 1).sampled[0], 3u);
  EXPECT_EQ(pages.of(16, 1, -1).sampled[0], 2u);
}

TEST(PageJoin, ProcessesThatRecordedNothingAreAddedUp) {
  SampledPages pages;
  for (int at = 2; at < 6; at++) {
    pages.sample(at, kFirstBlock, 200, 0, 0, 0, 70);
    pages.sample(at, kFirstBlock, 100, 0, 0, 0, 71);
    pages.sample(at, kFirstBlock, 2, 0, 0, 0, 72);
  }
  pages.finish();
  EXPECT_EQ(pages.of(0, 0).samples, 12u);
  EXPECT_EQ(pages.of(0, 0).sampled, (std::map<int, uint64_t>{{0, 1208}}));
  EXPECT_DOUBLE_EQ(mean_bytes(pages.of(0, 0)), 302'000.0);
}

TEST(PageJoin, NoMemoryIsThatOfASiteBeforeAPauseAndOfNoneAfterIt) {
  SampledPages pages({}, {{4 * kPageSecond, 6 * kPageSecond}, {9 * kPageSecond, 10 * kPageSecond}});
  pages.allocate(1, kFirstBlock, 16, 100 * kAccessPage);
  for (const int64_t at : {2, 3, 5, 7, 8}) {
    if (at == 7) pages.allocate(at, kSecondBlock, 32, 100 * kAccessPage);
    pages.sample(at, kFirstBlock, 100);
    pages.sample(at, kSecondBlock, 100);
  }
  pages.finish();
  EXPECT_EQ(pages.of(16).sampled, (std::map<int, uint64_t>{{0, 200}}));
  EXPECT_EQ(pages.of(32).sampled, (std::map<int, uint64_t>{{0, 200}}));
  EXPECT_EQ(pages.of(0).sampled, (std::map<int, uint64_t>{{0, 200}})) << "only from before the pause";
}

TEST(PageJoin, AForkedChildHasTheBlocksOfItsParent) {
  SampledMemory sampled;
  note_page(sampled, 2, kFirstBlock + 3 * kAccessPage);
  SampledPages pages(sampled);
  pages.allocate(1, kFirstBlock, 16);
  pages.sample(6, kFirstBlock, 5, 0, 2);
  pages.free(7, kFirstBlock);
  pages.sample(8, kFirstBlock, 5, 0, 2);
  pages.sample(8, kFirstBlock, 4, 0, 1);
  pages.finish();
  EXPECT_EQ(pages.of(16, 2).sampled[0], 10u) << "the child has not freed it";
  EXPECT_EQ(pages.of(16, 1).samples, 0u);
  EXPECT_EQ(pages.of(0, 1).sampled[0], 4u);
}

TEST(PageJoin, SampledMemoryIsKeptByItsSurroundings) {
  SampledMemory sampled;
  for (uint64_t page = 0; page < 1024; page++) note_page(sampled, 2, kFirstBlock + page * kAccessPage);
  EXPECT_EQ(sampled[2], (AddressRanges{{kFirstBlock, kFirstBlock + (4 << 20)}}));
}

}  // namespace
}  // namespace mlrun::trace
