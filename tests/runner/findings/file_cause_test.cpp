// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/file_cause.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace mlrun::findings {
namespace {

struct Case {
  const char* what;
  blame::FileUse use;
  double times_over, remote, device;
  Cause cause;
};

constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr Ns kS = 1'000'000'000;

blame::FileUse reads(int64_t count, int64_t bytes_each, Ns time_ns, int64_t jumps = 0) {
  blame::FileUse use;
  use.reads = count;
  use.read_bytes = count * bytes_each;
  use.read_ns = time_ns;
  use.jumps = jumps;
  use.opens = 1;
  return use;
}

blame::FileUse with_names(blame::FileUse use, int64_t opens, int64_t names, Ns names_ns) {
  use.opens = opens;
  use.names = names;
  use.names_ns = names_ns;
  return use;
}

blame::FileUse direct(blame::FileUse use) {
  use.direct_ns = use.read_ns;
  return use;
}

TEST(FileCause, IsTheFirstOfTheOrderThatHolds) {
  const Case cases[] = {
      {"a server", reads(100, kMiB, kS), 1, 0.8, 0, Cause::kDataRemote},
      {"stat storm", with_names(reads(100, kMiB, kS / 100), 100, 50'000, kS), 1, 0, 0, Cause::kMetadata},
      {"many small files", with_names(reads(4000, 8 * kKiB, kS), 4000, 4000, kS / 2), 1, 0, 0, Cause::kSmallFiles},
      {"past the page cache", direct(reads(9000, 4 * kKiB, kS, 8000)), 1, 0, 0, Cause::kDataDevice},
      {"one file 200 times, in memory", reads(20'000, kMiB, 40 * kS), 200, 0, 0.1, Cause::kReread},
      {"one file 200 times, always from the device", reads(20'000, kMiB, 40 * kS), 200, 0, 0.9, Cause::kPageCacheMiss},
      {"one file 200 times, fast", reads(20'000, kMiB, 4 * kS), 200, 0, -1, Cause::kReread},
      {"random 32 KiB", reads(9000, 32 * kKiB, kS, 8000), 1, 0, 0, Cause::kRandomRequests},
      {"large pieces here and there, cold", reads(900, kMiB, 3 * kS, 800), 1, 0, -1, Cause::kPageCacheMiss},
      {"4 KiB in order", reads(90'000, 4 * kKiB, kS), 1, 0, 0, Cause::kSmallRequests},
      {"fast reads of what is in memory, read over", reads(900, kMiB, kS / 3), 5, 0, -1, Cause::kReread},
      {"cached, large, read once", reads(900, kMiB, 3 * kS), 1, 0, 0.1, Cause::kDataTransformCpu},
      {"large, read once, fast", reads(900, kMiB, kS / 3), 1, 0, -1, Cause::kDataTransformCpu},
      {"large, read once, from the device", reads(900, kMiB, 3 * kS), 1, 0, 0.9, Cause::kPageCacheMiss},
  };
  for (const Case& one : cases) {
    const blame::Analysis analysis;
    Context context(analysis, {});
    context.use = one.use;
    context.times_over = one.times_over;
    decide_files(context, {one.remote, one.device, 1 - one.remote - one.device});
    EXPECT_EQ(kCauseNames[static_cast<size_t>(context.files)], std::string(kCauseNames[static_cast<size_t>(one.cause)]))
        << one.what;
    EXPECT_EQ(std::count(context.files_also.begin(), context.files_also.end(), context.files), 0) << one.what;
  }
}

TEST(FileCause, NamesFurtherCauses) {
  const blame::Analysis analysis;
  Context context(analysis, {});
  context.use = direct(reads(9000, 4 * kKiB, kS, 8000));
  decide_files(context, {});
  EXPECT_EQ(context.files_also, (std::vector<Cause>{Cause::kSmallRequests, Cause::kRandomRequests}));
}

TEST(FileCause, ReadsMeasuredToComeFromMemoryAreNotAttributedToADevice) {
  const blame::Analysis analysis;
  for (const double device : {-1.0, 0.1}) {
    Context context(analysis, {});
    context.use = reads(900, kMiB, kS / 3);
    decide_files(context, {.device = device, .cpu = 0.9});
    EXPECT_EQ(context.files_also, device < 0 ? std::vector<Cause>{Cause::kDataDevice} : std::vector<Cause>{});
  }
}

TEST(FileCause, ReadsThatSleepForNoDeviceAreNotCopiedFromMemory) {
  const blame::Analysis analysis;
  Context context(analysis, {});
  context.use = reads(900, kMiB, 3 * kS);
  decide_files(context, {.device = 0.1, .cpu = 0.2});
  EXPECT_EQ(context.files, Cause::kDataDevice);
}

TEST(FileCause, BySpeedAloneMemoryAndAFastDeviceAreTheSame) {
  const blame::Analysis analysis;
  for (const double device : {-1.0, 0.1}) {
    Context context(analysis, {});
    context.use = reads(20'000, kMiB, 4 * kS);
    context.times_over = 200;
    decide_files(context, {.device = device, .cpu = 0.9});
    EXPECT_EQ(context.files, Cause::kReread);
    EXPECT_EQ(context.files_also, device < 0 ? std::vector<Cause>{Cause::kPageCacheMiss} : std::vector<Cause>{});
  }
}

}  // namespace
}  // namespace mlrun::findings
