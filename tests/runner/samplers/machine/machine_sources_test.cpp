// SPDX-License-Identifier: Apache-2.0
// Processors, disks, interfaces and memory, from texts of several kernels with known numbers.
#include <unistd.h>

#include "runner/samplers/machine/cpu_source.h"
#include "runner/samplers/machine/disk_source.h"
#include "runner/samplers/machine/machine_sampler.h"
#include "runner/samplers/machine/memory_source.h"
#include "runner/samplers/machine/net_source.h"
#include "tests/runner/samplers/machine/sampled_files.h"

namespace mlrun::machine {
namespace {

const int64_t kTickNs = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
constexpr int64_t kMsNs = 1'000'000;

class CpuTest : public SampledFiles {
 protected:
  std::vector<mlrun_cpu_sample> sample(Source& source) {
    return SampledFiles::sample<mlrun_cpu_sample>(source, MLRUN_SAMPLE_CPU);
  }
};

TEST_F(CpuTest, TimesAreApartFromEachOtherAsInMpstat) {
  put("proc/stat", "cpu  30 3 5 70 2 1 4 6 2 1\ncpu0 30 3 5 70 2 1 4 6 2 1\nintr 9 1 2\n");
  CpuSource source(places_);
  EXPECT_TRUE(sample(source).empty()) << "the first sample is only the beginning";
  put("proc/stat", "cpu  0 0 0 0\ncpu0 50 9 15 170 5 3 8 16 12 6\nintr 9 1 2\n");
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].cpu, 0u);
  EXPECT_EQ(rows[0].interval_ns, 1'000'000'000u);
  const std::array<int64_t, MLRUN_CPU_FIELDS> ticks = {10, 1, 10, 100, 3, 2, 4, 10, 10, 5};
  for (size_t i = 0; i < ticks.size(); ++i) EXPECT_EQ(rows[0].values[i], ticks[i] * kTickNs) << i;
}

TEST_F(CpuTest, OldKernelsHaveFewerTimes) {
  put("proc/stat", "cpu  1 1 1 1\ncpu0 10 10 10 10\n");  // Linux 2.4
  CpuSource source(places_);
  sample(source);
  put("proc/stat", "cpu  1 1 1 1\ncpu0 11 12 13 14\n");
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].values[MLRUN_CPU_IDLE_NS], 4 * kTickNs);
  EXPECT_EQ(rows[0].values[MLRUN_CPU_IOWAIT_NS], MLRUN_NOT_KNOWN);
  EXPECT_EQ(rows[0].values[MLRUN_CPU_GUEST_NS], MLRUN_NOT_KNOWN);
}

TEST_F(CpuTest, AProcessorThatIsOfflineHasNoRowsAndBeginsAgain) {
  put("proc/stat", "cpu  1 1 1 1\ncpu0 10 0 0 10\ncpu1 10 0 0 10\n");
  CpuSource source(places_);
  sample(source);
  put("proc/stat", "cpu  1 1 1 1\ncpu0 11 0 0 10\n");
  EXPECT_EQ(sample(source).size(), 1u);
  put("proc/stat", "cpu  1 1 1 1\ncpu0 12 0 0 10\ncpu1 500 0 0 900\n");
  EXPECT_EQ(sample(source).size(), 1u) << "what it did before it came back belongs to no interval";
  put("proc/stat", "cpu  1 1 1 1\ncpu0 12 0 0 10\ncpu1 507 0 0 900\n");
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].values[MLRUN_CPU_USER_NS], 7 * kTickNs);
}

TEST_F(CpuTest, ACorrectionOfTheKernelIsNotCountedTwice) {
  put("proc/stat", "cpu  1 1 1 1 1\ncpu0 10 0 0 10 50\n");
  CpuSource source(places_);
  sample(source);
  put("proc/stat", "cpu  1 1 1 1 1\ncpu0 10 0 0 10 45\n");
  EXPECT_EQ(sample(source)[0].values[MLRUN_CPU_IOWAIT_NS], 0);
  put("proc/stat", "cpu  1 1 1 1 1\ncpu0 10 0 0 10 52\n");
  EXPECT_EQ(sample(source)[0].values[MLRUN_CPU_IOWAIT_NS], 2 * kTickNs);
}

TEST_F(CpuTest, WithoutTheFileThereIsOneLineAboutIt) {
  CpuSource source(places_);
  EXPECT_TRUE(sample(source).empty());
  ASSERT_EQ(source.problems().size(), 1u);
  EXPECT_EQ(DiskSource(places_).problems().size(), 1u);
  EXPECT_EQ(NetSource(places_).problems().size(), 1u);
  EXPECT_EQ(check_sources(known_sources(), places_).absent, (std::vector<std::string>{"cpu", "disk", "net", "memory"}));
}

class DiskTest : public SampledFiles {
 protected:
  std::vector<mlrun_disk_sample> sample(Source& source) {
    return SampledFiles::sample<mlrun_disk_sample>(source, MLRUN_SAMPLE_DISK);
  }
};

TEST_F(DiskTest, AllNumbersOfTodaysKernelsAreRead) {
  put("proc/diskstats",
      " 254 0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
  DiskSource source(places_);
  EXPECT_TRUE(sample(source).empty());
  put("proc/diskstats", " 254 0 vda 2 4 6 8 10 12 14 16 1 20 22 24 26 28 30 32 34\n");
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 1u) << "a device without requests has none";
  EXPECT_STREQ(rows[0].name, "vda");
  EXPECT_EQ(rows[0].major, 254u);
  const std::array<int64_t, MLRUN_DISK_FIELDS> wanted = {1,       2,         3 * 512,    4 * kMsNs,  5,          6,
                                                         7 * 512, 8 * kMsNs, 1,          10 * kMsNs, 11 * kMsNs, 12,
                                                         13,      14 * 512,  15 * kMsNs, 16,         17 * kMsNs};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(rows[0].values[i], wanted[i]) << i;
}

TEST_F(DiskTest, OldKernelsHaveNeitherDiscardsNorFlushesAndShortLinesOfPartitions) {
  put("proc/diskstats", "   8    0 sda 1 2 3 4 5 6 7 8 9 10 11\n   8    1 sda1 1 2 3 4\n");
  DiskSource source(places_);
  sample(source);
  put("proc/diskstats", "   8    0 sda 3 2 3 4 5 6 7 8 9 10 11\n   8    1 sda1 2 3 4 5\n");
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].values[MLRUN_DISK_READS], 2);
  EXPECT_EQ(rows[0].values[MLRUN_DISK_DISCARDS], MLRUN_NOT_KNOWN);
  EXPECT_EQ(rows[0].values[MLRUN_DISK_FLUSH_NS], MLRUN_NOT_KNOWN);
}

TEST_F(DiskTest, AMachineWithThousandsOfDevicesHasRowsOfAll) {
  const auto put_all = [&](int reads) {
    std::string text;
    for (int i = 0; i < 5000; ++i)
      text += " 253 " + std::to_string(i) + " dm-" + std::to_string(i) + " " + std::to_string(reads) +
              " 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
    put("proc/diskstats", text);
  };
  put_all(1);
  DiskSource source(places_);
  sample(source);
  put_all(8);
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 5000u);
  EXPECT_STREQ(rows.back().name, "dm-4999");
  for (const mlrun_disk_sample& row : rows) ASSERT_EQ(row.values[MLRUN_DISK_READS], 7) << row.name;
}

TEST_F(DiskTest, PartitionsAreLeftOut) {
  put("sys/dev/block/8:1/partition", "1\n");
  put("proc/diskstats", " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n 8 1 sda1 1 2 3 4 5 6 7 8 9 10 11\n");
  DiskSource source(places_);
  sample(source);
  EXPECT_EQ(sample(source).size(), 1u);
}

TEST_F(DiskTest, TheFirstRequestOfAnUnusedDeviceIsCounted) {
  put("proc/diskstats", " 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n");
  DiskSource source(places_);
  EXPECT_TRUE(sample(source).empty());
  EXPECT_TRUE(sample(source).empty()) << "unused devices have no rows";
  put("proc/diskstats", " 7 0 loop0 3 0 8 1 0 0 0 0 0 1 1\n");
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].interval_ns, 1'000'000'000u);
  EXPECT_EQ(rows[0].values[MLRUN_DISK_READS], 3);
  EXPECT_EQ(rows[0].values[MLRUN_DISK_READ_BYTES], 8 * 512);
}

TEST_F(DiskTest, ADiskWithTheNumberOfAnEarlierPartitionIsADisk) {
  put("sys/dev/block/259:1/partition", "1\n");
  put("proc/diskstats", " 259 1 nvme0n1p1 1 2 3 4 5 6 7 8 9 10 11\n");
  DiskSource source(places_);
  EXPECT_TRUE(source.problems().empty());
  sample(source);
  std::filesystem::remove_all(top_ / "sys/dev/block/259:1");
  put("proc/diskstats", " 259 1 nvme1n1 1 2 3 4 5 6 7 8 9 10 11\n");
  sample(source);
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_STREQ(rows[0].name, "nvme1n1");
}

TEST_F(DiskTest, WithoutSysPartitionsAppearAsDisksAndOneLineReportsIt) {
  put("proc/diskstats", " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
  EXPECT_EQ(
      DiskSource(places_).problems(),
      std::vector<std::string>{
          "no /sys/dev/block (a container may hide it): partitions have rows too, so their bytes are also in those "
          "of their disk"});
}

TEST_F(DiskTest, MillisecondsOf32BitsWrapAndADeviceThatIsMadeAgainBeginsAtZero) {
  put("proc/diskstats", " 8 0 sda 100 0 0 4294967290 0 0 0 0 0 10 11\n");
  DiskSource source(places_);
  sample(source);
  put("proc/diskstats", " 8 0 sda 101 0 0 14 0 0 0 0 0 10 11\n");
  EXPECT_EQ(sample(source)[0].values[MLRUN_DISK_READ_NS], 20 * kMsNs);
  put("proc/diskstats", " 8 0 sda 3 0 0 2 0 0 0 0 0 1 1\n");
  const auto rows = sample(source);
  EXPECT_EQ(rows[0].values[MLRUN_DISK_READS], 3);
  EXPECT_EQ(rows[0].values[MLRUN_DISK_READ_NS], 2 * kMsNs);
}

TEST_F(SampledFiles, InterfacesHaveBytesPacketsErrorsAndDrops) {
  const std::string head =
      "Inter-|   Receive            |  Transmit\n face |bytes    packets errs drop fifo frame compressed "
      "multicast|bytes\n";
  put("proc/net/dev",
      head + "    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  eth0:4294967290 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
  NetSource source(places_);
  EXPECT_TRUE(sample<mlrun_net_sample>(source, MLRUN_SAMPLE_NET).empty());
  put("proc/net/dev", head +
                          "    lo: 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32\n  eth0: 4 2 0 0 0 0 0 0 2 2 0 0 0 0 0 "
                          "0\neth0:1: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n");
  const auto rows = sample<mlrun_net_sample>(source, MLRUN_SAMPLE_NET);
  ASSERT_EQ(rows.size(), 2u) << "an interface that is new begins with its second sample";
  EXPECT_STREQ(rows[0].name, "lo");
  for (size_t i = 0; i < MLRUN_NET_FIELDS; ++i) EXPECT_EQ(rows[0].values[i], int64_t(i) + 1) << i;
  EXPECT_EQ(rows[1].values[MLRUN_NET_RX_BYTES], 10) << "of 32 bits";
}

class MemoryTest : public SampledFiles {
 protected:
  std::vector<mlrun_memory_sample> sample(Source& source) {
    return SampledFiles::sample<mlrun_memory_sample>(source, MLRUN_SAMPLE_MEMORY);
  }
};

TEST_F(MemoryTest, TheMachineAndEachNodeHaveTheirRow) {
  put("proc/meminfo",
      "MemTotal:       1000 kB\nMemFree:         600 kB\nMemAvailable:    700 kB\nCached: 5 kB\nSwapCached: 9 "
      "kB\nHugePages_Total:       3\n");
  put("proc/vmstat",
      "pgpgin 10\npgfault 5\nallocstall_dma 1\nallocstall_normal 2\npgdemote_kswapd 3\npgdemote_direct "
      "4\npgscan_direct 7\npgscan_direct_throttle 100\n");
  put("proc/pressure/memory", "some avg10=0 avg60=0 avg300=0 total=5\nfull avg10=0 avg60=0 avg300=0 total=2\n");
  put("proc/pressure/irq", "full avg10=0 avg60=0 avg300=0 total=8\n");
  put("sys/devices/system/node/online", "0,2\n");
  for (const char* node : {"0", "2"}) {
    const std::string folder = std::string("sys/devices/system/node/node") + node;
    put(folder + "/meminfo",
        "Node " + std::string(node) + " MemTotal:  500 kB\nNode 0 FilePages:  4 kB\nNode 0 AnonHugePages: 2 kB\n");
    put(folder + "/numastat",
        "numa_hit 10\nnuma_miss 1\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 10\nother_node 1\n");
  }
  MemorySource source(places_);
  EXPECT_TRUE(sample(source).empty());
  put("proc/vmstat",
      "pgpgin 14\npgfault 6\nallocstall_dma 2\nallocstall_normal 5\npgdemote_kswapd 4\npgdemote_direct "
      "6\npgscan_direct 9\npgscan_direct_throttle 200\n");
  put("proc/pressure/memory", "some avg10=0 avg60=0 avg300=0 total=9\nfull avg10=0 avg60=0 avg300=0 total=3\n");
  put("proc/pressure/irq", "full avg10=0 avg60=0 avg300=0 total=15\n");
  put("sys/devices/system/node/node2/numastat",
      "numa_hit 25\nnuma_miss 1\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 10\nother_node 4\n");
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 3u);
  const auto value = [&](size_t row, mlrun_memory_field field) { return int64_t{rows[row].values[field]}; };
  EXPECT_EQ(rows[0].node, -1);
  EXPECT_EQ(value(0, MLRUN_MEMORY_TOTAL_BYTES), 1000 * 1024);
  EXPECT_EQ(value(0, MLRUN_MEMORY_AVAILABLE_BYTES), 700 * 1024);
  EXPECT_EQ(value(0, MLRUN_MEMORY_CACHED_BYTES), 5 * 1024);
  EXPECT_EQ(value(0, MLRUN_MEMORY_HUGE_PAGES), 3);
  EXPECT_EQ(value(0, MLRUN_MEMORY_PAGED_IN_BYTES), 4 * 1024);
  EXPECT_EQ(value(0, MLRUN_MEMORY_FAULTS), 1);
  EXPECT_EQ(value(0, MLRUN_MEMORY_ALLOC_STALLS), 4);
  EXPECT_EQ(value(0, MLRUN_MEMORY_DEMOTED), 3);
  EXPECT_EQ(value(0, MLRUN_MEMORY_SCANNED_DIRECT), 2);
  EXPECT_EQ(value(0, MLRUN_MEMORY_PSI_SOME_NS), 4000);
  EXPECT_EQ(value(0, MLRUN_MEMORY_PSI_FULL_NS), 1000);
  EXPECT_EQ(value(0, MLRUN_MEMORY_PSI_IRQ_FULL_NS), 7000);
  EXPECT_EQ(value(0, MLRUN_MEMORY_PSI_IO_SOME_NS), MLRUN_NOT_KNOWN) << "this kernel has none";
  EXPECT_EQ(value(0, MLRUN_MEMORY_NUMA_HIT), MLRUN_NOT_KNOWN) << "of nodes";
  EXPECT_EQ(rows[2].node, 2);
  EXPECT_EQ(value(2, MLRUN_MEMORY_TOTAL_BYTES), 500 * 1024);
  EXPECT_EQ(value(2, MLRUN_MEMORY_CACHED_BYTES), 4 * 1024);
  EXPECT_EQ(value(2, MLRUN_MEMORY_NUMA_HIT), 15);
  EXPECT_EQ(value(2, MLRUN_MEMORY_OTHER_NODE), 3);
  EXPECT_EQ(value(2, MLRUN_MEMORY_FAULTS), MLRUN_NOT_KNOWN);
}

TEST_F(MemoryTest, BeforeLinux48CountersOfReclaimAreSplitByZone) {
  put("proc/vmstat", "pgscan_kswapd_dma 1\npgscan_kswapd_normal 2\npgsteal_direct_normal 3\nallocstall 4\n");
  MemorySource source(places_);
  sample(source);
  put("proc/vmstat", "pgscan_kswapd_dma 2\npgscan_kswapd_normal 4\npgsteal_direct_normal 6\nallocstall 8\n");
  const auto rows = sample(source);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].values[MLRUN_MEMORY_SCANNED_KSWAPD], 3);
  EXPECT_EQ(rows[0].values[MLRUN_MEMORY_RECLAIMED_DIRECT], 3);
  EXPECT_EQ(rows[0].values[MLRUN_MEMORY_ALLOC_STALLS], 4);
  EXPECT_EQ(rows[0].values[MLRUN_MEMORY_TOTAL_BYTES], MLRUN_NOT_KNOWN);
}

}  // namespace
}  // namespace mlrun::machine
