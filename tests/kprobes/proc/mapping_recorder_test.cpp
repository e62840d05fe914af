// SPDX-License-Identifier: Apache-2.0
// Tests records of processes' mappings, as the merge reads them.
#include "kprobes/proc/mapping_recorder.h"

#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kprobes/rings/kernel_spool.h"
#include "runner/decode/kernel_view.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {
namespace {

class MappingRecorderTest : public testing::Test {
 protected:
  MappingRecorderTest() : path_(testing::TempDir() + "mlrun-mappings-XXXXXX"), file_(::mkstemp(path_.data())) {}
  ~MappingRecorderTest() override { ::unlink(path_.c_str()); }

  // Time and text of each record.
  std::vector<std::pair<uint64_t, std::string>> records() {
    std::vector<std::pair<uint64_t, std::string>> records;
    spool_.flush();
    trace::SpoolCursor cursor(file_.get(), 0, spool_.bytes(), spool_.bytes());
    trace::SpoolFrame frame;
    for (auto more = cursor.next(frame); more && *more; more = cursor.next(frame)) {
      decode::KernelReader reader(frame.payload, frame.header.payload_bytes);
      while (reader.next()) {
        mlrun_mappings_seen seen{};
        EXPECT_TRUE(reader.read(seen));
        EXPECT_EQ(reader.head().kind, MLRUN_KERNEL_MAPPINGS);
        records.emplace_back(seen.head.time_ns, reader.text_behind(sizeof seen, seen.text_bytes));
      }
    }
    return records;
  }

  std::string path_;
  util::UniqueFd file_;
  KernelSpool spool_{file_.get()};
  MappingRecorder recorder_{spool_};
};

const std::string kCode = "7f0000001000-7f0000002000 r-xp 00001000 fe:00 12    /usr/lib/a library.so\n";
const std::string kOthers =
    "7f0000000000-7f0000001000 r--p 00000000 fe:00 12    /usr/lib/a library.so\n"
    "7f0000003000-7f0000004000 rwxp 00000000 00:00 0 \n"
    "7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0    [vdso]\n";

TEST_F(MappingRecorderTest, RecordsOnlyCodeOfFiles) {
  recorder_.record(4, kOthers + kCode, 10);
  EXPECT_EQ(records(), (std::vector<std::pair<uint64_t, std::string>>{{10, kCode}}));
}

TEST_F(MappingRecorderTest, RecordsItAgainAfterAChangeAndForEachProcess) {
  const std::string more = kCode + "7f0000009000-7f000000a000 r-xp 00000000 fe:00 13    /usr/lib/b.so\n";
  recorder_.record(4, kCode, 10);
  recorder_.record(4, kOthers + kCode, 20);
  recorder_.record(5, kCode, 30);
  recorder_.record(4, more, 40);
  recorder_.record(4, "", 50);
  EXPECT_EQ(records(), (std::vector<std::pair<uint64_t, std::string>>{{10, kCode}, {30, kCode}, {40, more}}));
}

TEST_F(MappingRecorderTest, ManyLibrariesAreSeveralRecordsOfOneTime) {
  std::string maps;
  for (int i = 0; i < 3000; ++i) maps += kCode;
  recorder_.record(4, maps, 10);
  const auto all = records();
  std::string together;
  for (const auto& [time_ns, text] : all) {
    EXPECT_EQ(time_ns, 10u);
    EXPECT_EQ(text.back(), '\n');
    together += text;
  }
  EXPECT_GT(all.size(), 1u);
  EXPECT_EQ(together, maps);
}

}  // namespace
}  // namespace mlrun::probes
