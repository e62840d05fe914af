// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/event_sums.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runner/trace/spool/spool_cursor.h"
#include "runner/trace/spool/sum_cursor.h"
#include "runner/util/unique_fd.h"
#include "tests/runner/trace/record_buffer.h"

namespace mlrun::sums {
namespace {

using testing::RecordBuffer;

class EventSumsTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  void take(uint64_t channel, const RecordBuffer& records) {
    mlrun_frame header{};
    header.channel = channel;
    header.lap = records.lap();
    sums_.take_records(header, reinterpret_cast<const char*>(records.words().data()), records.bytes(), kept_);
  }

  struct Sum {
    uint16_t flags = 0;
    uint32_t open_file = 0;
    uint64_t calls = 0;
  };
  std::vector<Sum> saved() {
    EXPECT_TRUE(sums_.save());
    const util::UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    const uint64_t bytes = std::filesystem::file_size(path_);
    trace::SpoolCursor cursor(fd.get(), 0, bytes, bytes);
    trace::SpoolFrame frame;
    std::vector<Sum> found;
    while (cursor.next(frame).value_or(false)) {
      if (frame.header.type != MLRUN_FRAME_SUMS) continue;
      trace::SumCursor entries(frame);
      while (entries.next()) {
        decode::CallEvent call;
        if (!entries.record() || !decode::decode(*entries.record(), call)) continue;
        found.push_back({entries.sum().flags, call.open_file, entries.sum().calls});
      }
    }
    return found;
  }

  std::string path_ = std::filesystem::temp_directory_path() / ("mlrun-sums-" + std::to_string(::getpid()));
  EventSums sums_{EventSumsOptions{.path = path_, .mllog = {}}};
  std::vector<char> kept_;
};

// One thread opens a file and another uses it; the collector takes the records of the other one first. The merger, which
// has all descriptions, can tell the file by its number.
TEST_F(EventSumsTest, ACallOnAFileThatIsDescribedLaterKeepsItsNumber) {
  RecordBuffer of_user, of_opener;
  of_user.add(testing::DescriptorCall{.func = events::func::k_close, .start = 1000, .open_file = 7});
  of_user.add(testing::DescriptorCall{.func = events::func::k_close, .start = 2000, .open_file = 8});
  const uint64_t path = of_opener.add_string("/dev/shm/tensor");
  of_opener.add(testing::OpenFileRecord{.number = 7, .inode = 70, .path = path});
  take(2, of_user);
  take(1, of_opener);
  const std::vector<Sum> sums = saved();
  ASSERT_EQ(sums.size(), 2u);
  for (const Sum& sum : sums) EXPECT_EQ(sum.flags & MLRUN_SUM_NO_FILE, 0);
  EXPECT_EQ(sums[0].open_file + sums[1].open_file, 7u + 8u);
}

}  // namespace
}  // namespace mlrun::sums
