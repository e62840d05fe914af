// SPDX-License-Identifier: Apache-2.0
// The ways to read the bandwidth of memory, from texts by their documented forms: none of them was seen on hardware.
#include "runner/samplers/machine/bandwidth_source.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "runner/samplers/machine/bandwidth_reader.h"
#include "runner/samplers/machine/pcm_texts.h"
#include "runner/samplers/machine/uncore_events.h"
#include "tests/runner/samplers/machine/sampled_files.h"

namespace mlrun::machine {
namespace {

const BandwidthReading* find(const std::vector<BandwidthReading>& readings, mlrun_bandwidth_kind kind, int32_t socket,
                             int32_t channel) {
  for (const BandwidthReading& one : readings) {
    if (one.kind == kind && one.socket == socket && one.channel == channel) return &one;
  }
  return nullptr;
}

// Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format}.
TEST_F(SampledFiles, UncoreEventsAreThoseThatSysfsDescribes) {
  const std::string unit = "sys/bus/event_source/devices/uncore_imc_3/";
  put(unit + "type", "14\n");
  put(unit + "cpumask", "0,28\n");
  put(unit + "format/event", "config:0-7\n");
  put(unit + "format/umask", "config:8-15,32-35\n");
  put(unit + "events/cas_count_read", "event=0x04,umask=0xf03\n");
  put(unit + "events/cas_count_read.scale", "6.103515625e-5\n");
  put(unit + "events/cas_count_read.unit", "MiB\n");
  put(unit + "events/cas_count_write", "event=0x04,other=1\n");
  put(unit + "events/clockticks", "event=0x0\n");
  const auto events = find_uncore_events(places_.sys + "/bus/event_source/devices");
  ASSERT_EQ(events.size(), 1u) << "a term without a format is none that can be asked for";
  EXPECT_EQ(events[0].type, 14u);
  EXPECT_EQ(events[0].config, 0xf'0000'0304u);
  EXPECT_EQ(events[0].cpus, (util::IdList{0, 28}));
  EXPECT_DOUBLE_EQ(events[0].bytes_per_count, 64);
  EXPECT_EQ(events[0].channel, 3);
}

TEST_F(SampledFiles, ServersThatCountTheHalvesOfAChannelHaveTwoEventsForEach) {
  const std::string unit = "sys/bus/event_source/devices/uncore_imc_1/";
  put(unit + "type", "14\n");
  put(unit + "cpumask", "0\n");
  put(unit + "format/event", "config:0-7\n");
  for (const char* name :
       {"cas_count_read_sch0", "cas_count_read_sch1", "cas_count_write_sch0", "cas_count_write_sch1"}) {
    put(unit + "events/" + name, "event=0x05\n");
    put(unit + "events/" + name + ".scale", "6.103515625e-5\n");
    put(unit + "events/" + name + ".unit", "MiB\n");
  }
  const auto events = find_uncore_events(places_.sys + "/bus/event_source/devices");
  EXPECT_EQ(events.size(), 4u);
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const UncoreEvent& one) { return one.field == MLRUN_BANDWIDTH_WRITTEN_BYTES; }),
            2);
}

TEST(ChannelSums, DiesOfAPackageAndHalvesOfAChannelAreAddedUp) {
  UncoreEvent read, write;
  read.channel = write.channel = 2;
  read.bytes_per_count = write.bytes_per_count = 64;
  write.field = MLRUN_BANDWIDTH_WRITTEN_BYTES;
  ChannelSums sums;
  sums.add(0, read, 10);
  sums.add(0, read, 5);  // another die
  sums.add(0, write, 7);
  sums.add(0, write, std::nullopt);
  sums.add(1, read, 3);
  sums.add(2, read, std::nullopt);
  const auto readings = sums.readings();
  ASSERT_EQ(readings.size(), 2u) << "nothing is known of socket 2";
  const BandwidthReading* first = find(readings, MLRUN_BANDWIDTH_DRAM, 0, 2);
  const BandwidthReading* second = find(readings, MLRUN_BANDWIDTH_DRAM, 1, 2);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->values[MLRUN_BANDWIDTH_READ_BYTES], 15 * 64);
  EXPECT_EQ(first->values[MLRUN_BANDWIDTH_WRITTEN_BYTES], MLRUN_NOT_KNOWN) << "a part was not counted";
  EXPECT_EQ(second->values[MLRUN_BANDWIDTH_READ_BYTES], 3 * 64);
}

TEST_F(SampledFiles, TheReasonForMissingUncoreEventsFitsTheProcessor) {
  const std::string devices = "sys/bus/event_source/devices/";
  const auto why = [&] {
    const OpenedReader opened = open_uncore(places_);
    return opened ? std::string() : opened.error().text;
  };
  EXPECT_NE(why().find("as in most virtual machines"), std::string::npos) << why();
  put(devices + "amd_df/type", "12\n");
  EXPECT_NE(why().find("this is an AMD processor (amd_df)"), std::string::npos) << why();
  put(devices + "amd_umc_1/type", "14\n");
  put(devices + "amd_umc_0/type", "13\n");
  EXPECT_NE(why().find("this is an AMD processor (amd_umc_0)"), std::string::npos) << why();
  put(devices + "uncore_imc_0/type", "15\n");
  EXPECT_NE(why().find("names no events"), std::string::npos) << why();
}

// Two events on one hardware counter: scaled as a whole, the total would be 2000 after the first row and 1640 after the second.
TEST(ScaledCount, DoesNotFallWhenTheShareOfTheTimeChanges) {
  ScaledCount count;
  EXPECT_EQ(count.add({500, 1000, 250}), 2000);
  EXPECT_EQ(count.add({1480, 2000, 1230}), 3000) << "980 in 980 of 1000 ns";
  EXPECT_EQ(count.add({1480, 3000, 1230}), std::nullopt) << "not counted in this span";
  EXPECT_EQ(count.add({1980, 4000, 1730}), 5000) << "500 in 500 of 2000 ns";
}

// The lines of PrometheusPrinter in pcm-sensor-server.cpp.
TEST(Pcm, MetricsOfTheServerAreTotalsOfSockets) {
  const auto readings = parse_pcm_metrics(
      "# HELP pcm\nMeasurement_Interval_in_us{} 1000000\nDRAM_Writes{socket=\"0\",source=\"uncore\"} 111\n"
      "DRAM_Reads{socket=\"0\",source=\"uncore\"} 222\nPersistent_Memory_Reads{socket=\"1\",source=\"uncore\"} 3e3\n"
      "DRAM_Reads{aggregate=\"system\",source=\"uncore\"} 999\nDRAM_Joules_Consumed{socket=\"0\",source=\"uncore\"} "
      "5\n");
  ASSERT_EQ(readings.size(), 2u);
  const auto* dram = find(readings, MLRUN_BANDWIDTH_DRAM, 0, -1);
  ASSERT_TRUE(dram);
  EXPECT_EQ(dram->values[MLRUN_BANDWIDTH_READ_BYTES], 222);
  EXPECT_EQ(dram->values[MLRUN_BANDWIDTH_WRITTEN_BYTES], 111);
  const auto* pmem = find(readings, MLRUN_BANDWIDTH_PMEM, 1, -1);
  ASSERT_TRUE(pmem);
  EXPECT_EQ(pmem->values[MLRUN_BANDWIDTH_READ_BYTES], 3000);
  EXPECT_EQ(pmem->values[MLRUN_BANDWIDTH_WRITTEN_BYTES], MLRUN_NOT_KNOWN);
}

// The lines of display_bandwidth_csv() in pcm-memory.cpp: two sockets, channel 1 of the second one has no memory.
TEST(Pcm, TheCsvOfPcmMemoryIsReadByItsHeaders) {
  PcmCsv csv;
  EXPECT_FALSE(csv.take("Intel(r) Performance Counter Monitor"));
  EXPECT_FALSE(
      csv.take(",,SKT0,SKT0,SKT0,SKT0,SKT0,SKT0,SKT0,SKT0,SKT1,SKT1,SKT1,SKT1,SKT1,SKT1,System,System,System"));
  EXPECT_FALSE(
      csv.take("Date,Time,Ch0Read,Ch0Write,Ch0PMM_Read,Ch0PMM_Write,Mem Read (MB/s),Mem Write (MB/s),"
               "CXL.mem_P0Write,Memory (MB/s),Ch1Read,Ch1Write,Mem Read (MB/s),Mem Write (MB/s),PMM_Read (MB/s), "
               "PMM_Write (MB/s),Read,Write,Memory"));
  EXPECT_TRUE(
      csv.take("2025-11-26,10:00:01.5,   12.50,    5.00,1,2,   12.50,5.00,7,17.5,,,   3.00,    4.00,5,6,1,2,3\r"));
  const auto value = [&](mlrun_bandwidth_kind kind, int32_t socket, int32_t channel, mlrun_bandwidth_field field) {
    const auto* reading = find(csv.readings(), kind, socket, channel);
    return reading == nullptr ? -1 : reading->values[field];
  };
  EXPECT_EQ(value(MLRUN_BANDWIDTH_DRAM, 0, 0, MLRUN_BANDWIDTH_READ_BYTES), 12'500'000);
  EXPECT_EQ(value(MLRUN_BANDWIDTH_DRAM, 0, 0, MLRUN_BANDWIDTH_WRITTEN_BYTES), 5'000'000);
  EXPECT_EQ(value(MLRUN_BANDWIDTH_PMEM, 0, 0, MLRUN_BANDWIDTH_WRITTEN_BYTES), 2'000'000);
  EXPECT_EQ(value(MLRUN_BANDWIDTH_CXL, 0, 0, MLRUN_BANDWIDTH_WRITTEN_BYTES), 7'000'000);
  EXPECT_EQ(value(MLRUN_BANDWIDTH_DRAM, 0, -1, MLRUN_BANDWIDTH_READ_BYTES), -1) << "the sum of its channels";
  EXPECT_EQ(value(MLRUN_BANDWIDTH_DRAM, 1, 1, MLRUN_BANDWIDTH_READ_BYTES), MLRUN_NOT_KNOWN);
  EXPECT_EQ(value(MLRUN_BANDWIDTH_PMEM, 1, -1, MLRUN_BANDWIDTH_WRITTEN_BYTES), 6'000'000);
  EXPECT_FALSE(csv.take(""));
}

// Documentation/filesystems/resctrl.rst.
TEST_F(SampledFiles, ResctrlAddsUpTheGroupsOfEachDomain) {
  for (const char* group : {"", "low/"}) {
    for (const char* domain : {"mon_L3_00", "mon_L3_01"}) {
      const std::string folder = std::string("sys/fs/resctrl/") + group + "mon_data/" + domain;
      put(folder + "/mbm_total_bytes", "1000\n");
      put(folder + "/mbm_local_bytes", "700\n");
    }
  }
  put("sys/fs/resctrl/info/L3_MON/num_rmids", "8\n");
  auto reader = open_resctrl(places_);
  ASSERT_TRUE(reader) << reader.error().text;
  const auto put_all = [&](const std::string& total, const std::string& local) {
    for (const char* group : {"", "low/"}) {
      const std::string folder = std::string("sys/fs/resctrl/") + group + "mon_data/mon_L3_01";
      put(folder + "/mbm_total_bytes", total);
      put(folder + "/mbm_local_bytes", local);
    }
  };
  std::vector<BandwidthReading> readings;
  ASSERT_TRUE((*reader)->read(1, readings));
  readings.clear();
  put_all("3000\n", "1100\n");
  ASSERT_TRUE((*reader)->read(2, readings));
  ASSERT_EQ(readings.size(), 2u);
  EXPECT_EQ(readings[0].values[MLRUN_BANDWIDTH_TOTAL_BYTES], 0);
  EXPECT_EQ(readings[1].socket, 1);
  EXPECT_EQ(readings[1].values[MLRUN_BANDWIDTH_TOTAL_BYTES], 4000) << "since the first reading";
  EXPECT_EQ(readings[1].values[MLRUN_BANDWIDTH_LOCAL_BYTES], 800);
}

// One group without a number, or one that was removed, ended all rows.
TEST_F(SampledFiles, AGroupOfResctrlThatIsRemovedOrHasNoNumberEndsNothing) {
  const auto put_group = [&](const std::string& group, const std::string& total) {
    put("sys/fs/resctrl/" + group + "mon_data/mon_L3_00/mbm_total_bytes", total);
  };
  put_group("", "1000\n");
  put_group("low/", "5000\n");
  auto reader = open_resctrl(places_);
  ASSERT_TRUE(reader) << reader.error().text;
  const auto total_at = [&](uint64_t second) {
    std::vector<BandwidthReading> readings;
    const bool any = (*reader)->read(second * 1'000'000'000, readings);
    return any ? int64_t{readings[0].values[MLRUN_BANDWIDTH_TOTAL_BYTES]} : -1;
  };
  EXPECT_EQ(total_at(1), 0);
  EXPECT_EQ((*reader)->text().find("gave no number"), std::string::npos);
  put_group("", "1100\n");
  put_group("low/", "Unavailable\n");
  EXPECT_EQ(total_at(2), 100);
  put_group("low/", "5070\n");
  EXPECT_EQ(total_at(3), 170) << "what it moved meanwhile is counted later";
  std::filesystem::remove_all(top_ / "sys/fs/resctrl/low");
  put_group("", "1200\n");
  EXPECT_EQ(total_at(4), 270);
  put_group("new/", "9000\n");
  EXPECT_EQ(total_at(5), 270) << "what it moved before belongs to no row";
  put_group("new/", "9001\n");
  put_group("", "Unavailable\n");
  EXPECT_EQ(total_at(6), 271);
  EXPECT_NE((*reader)->text().find("2 readings of its files gave no number"), std::string::npos) << (*reader)->text();
  EXPECT_EQ((*reader)->end(), "");
  std::filesystem::remove_all(top_ / "sys/fs/resctrl");
  EXPECT_EQ(total_at(7), -1);
  EXPECT_NE((*reader)->end(), "");
}

class PcmMemoryTest : public SampledFiles {
 protected:
  PcmMemoryTest() {
    put("dev/cpu/0/msr", "");
    places_.dev = top_ / "dev";
    put("sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", "1000\n");
    ::setenv("PATH", ((top_ / "bin").string() + ":" + path_).c_str(), 1);
  }
  ~PcmMemoryTest() override { ::setenv("PATH", path_.c_str(), 1); }
  PcmMemoryTest(const PcmMemoryTest&) = delete;
  PcmMemoryTest& operator=(const PcmMemoryTest&) = delete;

  void put_program(const std::string& script) const {
    put("bin/pcm-memory", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(top_ / "bin/pcm-memory", std::filesystem::perms::owner_all);
  }
  // The rows until a remark contains `text`, for 30 s at most; a sample each millisecond, `step_ns` apart by their own time.
  static std::vector<mlrun_bandwidth_sample> sample_until(BandwidthSource& source, const std::string& text,
                                                          uint64_t step_ns) {
    std::vector<mlrun_bandwidth_sample> rows;
    uint64_t now_ns = 1;
    for (int i = 0; i < 30'000; ++i, ::usleep(1000)) {
      Batch batch;
      source.sample(now_ns += step_ns, batch);
      const auto more = rows_of<mlrun_bandwidth_sample>(batch, MLRUN_SAMPLE_BANDWIDTH);
      rows.insert(rows.end(), more.begin(), more.end());
      if (has_remark(source, text)) return rows;
    }
    ADD_FAILURE() << "no remark with: " << text;
    return rows;
  }
  static bool has_remark(const BandwidthSource& source, const std::string& text) {
    const auto remarks = source.remarks();
    return std::any_of(remarks.begin(), remarks.end(),
                       [&](const std::string& one) { return one.find(text) != std::string::npos; });
  }

 private:
  std::string path_ = std::getenv("PATH") == nullptr ? "/usr/bin:/bin" : std::getenv("PATH");
};

constexpr uint64_t kTenthNs = 100'000'000;

TEST_F(PcmMemoryTest, AProgramThatEndsAtOnceIsFollowedByTheNextMechanism) {
  put_program("exit 1");
  BandwidthSource source(places_);
  if (has_remark(source, "by pcm-sensor-server: DRAM")) GTEST_SKIP() << "this machine has Intel PCM";
  EXPECT_TRUE(has_remark(source, "it has printed no headers so far"));
  EXPECT_TRUE(sample_until(source, "cannot be read by pcm-memory: ", 1).empty());
  EXPECT_TRUE(has_remark(source, "pcm-memory has ended; "));
  EXPECT_TRUE(has_remark(source, "bandwidth of memory by resctrl"));
}

TEST_F(PcmMemoryTest, AProgramWithoutKnownHeadersIsGivenUpAfterFiveSeconds) {
  put_program("echo something else; exec sleep 60");
  BandwidthSource source(places_);
  if (has_remark(source, "by pcm-sensor-server: DRAM")) GTEST_SKIP() << "this machine has Intel PCM";
  EXPECT_TRUE(sample_until(source, "printed no known header within 5 s", kTenthNs).empty());
  EXPECT_TRUE(has_remark(source, "bandwidth of memory by resctrl"));
}

TEST_F(PcmMemoryTest, OutputBeforeItsEndIsKept) {
  put_program(
      "printf ',,SKT0,SKT0\\nDate,Time,Mem Read (MB/s),Mem Write (MB/s)\\n2025-11-26,10:00:01,5,1\\n'; sleep 1; "
      "printf '2025-11-26,10:00:02,7,2\\n'");
  BandwidthSource source(places_);
  if (has_remark(source, "by pcm-sensor-server: DRAM")) GTEST_SKIP() << "this machine has Intel PCM";
  const auto rows = sample_until(source, "was read for a time by pcm-memory", 1);
  ASSERT_EQ(rows.size(), 1u) << "the first line is only the beginning";
  EXPECT_EQ(rows[0].source, static_cast<uint32_t>(MLRUN_BANDWIDTH_PCM_MEMORY));
  EXPECT_EQ(rows[0].kind, static_cast<uint32_t>(MLRUN_BANDWIDTH_DRAM));
  EXPECT_TRUE(has_remark(source, "bandwidth of memory by resctrl"));
}

// As where a sample was late. The first line had all the time since the one before, the second none.
TEST_F(PcmMemoryTest, LinesThatAreReadAtOnceShareTheTime) {
  put_program(
      "printf ',,SKT0,SKT0\\nDate,Time,Mem Read (MB/s),Mem Write (MB/s)\\n2025-11-26,10:00:01,5,1\\n'; sleep 0.5; "
      "printf '2025-11-26,10:00:02,900,1\\n2025-11-26,10:00:03,100,3\\n'; sleep 0.5");
  BandwidthSource source(places_);
  if (has_remark(source, "by pcm-sensor-server: DRAM")) GTEST_SKIP() << "this machine has Intel PCM";
  const auto rows = sample_until(source, "was read for a time by pcm-memory", 1'000'000);
  ASSERT_EQ(rows.size(), 1u);
  const double seconds = static_cast<double>(rows[0].interval_ns) / 1e9;
  EXPECT_NEAR(static_cast<double>(rows[0].values[MLRUN_BANDWIDTH_READ_BYTES]), 500e6 * seconds, 3);
  EXPECT_NEAR(static_cast<double>(rows[0].values[MLRUN_BANDWIDTH_WRITTEN_BYTES]), 2e6 * seconds, 3);
}

TEST_F(PcmMemoryTest, AProgramThatFallsSilentIsGivenUpAfterFiveSeconds) {
  put_program(
      "printf ',,SKT0,SKT0\\nDate,Time,Mem Read (MB/s),Mem Write (MB/s)\\n2025-11-26,10:00:01,5,1\\n'; exec sleep 60");
  BandwidthSource source(places_);
  if (has_remark(source, "by pcm-sensor-server: DRAM")) GTEST_SKIP() << "this machine has Intel PCM";
  sample_until(source, "printed no values for 5 s", 2'000'000);
  EXPECT_TRUE(has_remark(source, "bandwidth of memory by resctrl"));
}

// More than a pipe holds, before the first sample: the rest was lost, and so was all that came later.
TEST_F(PcmMemoryTest, OutputThatFillsThePipeIsKept) {
  put_program(
      "printf ',,SKT0,SKT0\\nDate,Time,Mem Read (MB/s),Mem Write (MB/s)\\n'; "
      "head -c 200000 /dev/zero | tr '\\0' '\\n'; printf '2025-11-26,10:00:01,5,1\\n'; sleep 1; "
      "printf '2025-11-26,10:00:02,7,2\\n'");
  BandwidthSource source(places_);
  if (has_remark(source, "by pcm-sensor-server: DRAM")) GTEST_SKIP() << "this machine has Intel PCM";
  ::usleep(300'000);
  EXPECT_EQ(sample_until(source, "was read for a time by pcm-memory", 1).size(), 1u);
}

TEST_F(SampledFiles, EachMechanismThatDoesNotWorkHasALineWithTheReason) {
  const auto remarks = BandwidthSource(places_).remarks();
  if (remarks.back().starts_with("bandwidth of memory by ")) GTEST_SKIP() << "this machine has Intel PCM";
  EXPECT_EQ(remarks.size(), 4u);
}

// Totals that grow by 100 at each reading.
class Growing : public BandwidthReader {
 public:
  Growing(mlrun_bandwidth_source source, std::vector<mlrun_bandwidth_kind> kinds, int readings_max)
      : source_(source), kinds_(std::move(kinds)), readings_max_(readings_max) {}
  bool read(uint64_t /*now_ns*/, std::vector<BandwidthReading>& readings) override {
    for (const mlrun_bandwidth_kind kind : kinds_) {
      BandwidthReading& one = readings.emplace_back();
      one.kind = kind;
      one.socket = 0;
      one.values[MLRUN_BANDWIDTH_READ_BYTES] = 100 * readings_;
    }
    ++readings_;
    return true;
  }
  [[nodiscard]] std::string end() const override { return readings_ >= readings_max_ ? "it has ended" : ""; }
  [[nodiscard]] mlrun_bandwidth_source source() const override { return source_; }
  [[nodiscard]] std::string text() const override { return "for a test"; }

 private:
  mlrun_bandwidth_source source_;
  std::vector<mlrun_bandwidth_kind> kinds_;
  int readings_max_, readings_ = 0;
};

OpenedReader open_dram(const Places& /*places*/) {
  return std::make_unique<Growing>(MLRUN_BANDWIDTH_UNCORE, std::vector{MLRUN_BANDWIDTH_DRAM}, 1000);
}
OpenedReader open_all_kinds(const Places& /*places*/) {
  return std::make_unique<Growing>(MLRUN_BANDWIDTH_PCM_SERVER,
                                   std::vector{MLRUN_BANDWIDTH_DRAM, MLRUN_BANDWIDTH_PMEM, MLRUN_BANDWIDTH_CXL}, 3);
}

TEST_F(SampledFiles, PmemAndCxlComeFromPcmBesideUncoreEvents) {
  constexpr BandwidthMechanism kBoth[] = {{"uncore", open_dram}, {"pcm", open_all_kinds, true}};
  BandwidthSource source(places_, kBoth);
  EXPECT_EQ(source.remarks(), (std::vector<std::string>{"bandwidth of memory by uncore: for a test",
                                                        "bandwidth of PMEM and CXL by pcm: for a test"}));
  const auto rows = [&] { return sample<mlrun_bandwidth_sample>(source, MLRUN_SAMPLE_BANDWIDTH); };
  EXPECT_TRUE(rows().empty());
  const auto both = rows();
  ASSERT_EQ(both.size(), 3u) << "DRAM once";
  EXPECT_EQ(both[0].source, static_cast<uint32_t>(MLRUN_BANDWIDTH_UNCORE));
  EXPECT_EQ(both[0].kind, static_cast<uint32_t>(MLRUN_BANDWIDTH_DRAM));
  EXPECT_EQ(both[1].source, static_cast<uint32_t>(MLRUN_BANDWIDTH_PCM_SERVER));
  EXPECT_EQ(both[1].kind, static_cast<uint32_t>(MLRUN_BANDWIDTH_PMEM));
  EXPECT_EQ(both[2].kind, static_cast<uint32_t>(MLRUN_BANDWIDTH_CXL));
  for (const mlrun_bandwidth_sample& row : both) EXPECT_EQ(row.values[MLRUN_BANDWIDTH_READ_BYTES], 100);
  EXPECT_EQ(rows().size(), 3u) << "the last one of PCM";
  EXPECT_EQ(rows().size(), 1u) << "DRAM goes on";
  EXPECT_EQ(source.remarks().front(), "bandwidth of PMEM and CXL was read for a time by pcm: it has ended");
}

}  // namespace
}  // namespace mlrun::machine
