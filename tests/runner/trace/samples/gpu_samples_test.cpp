// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/samples/gpu_samples.h"

#include <gtest/gtest.h>

#include "runner/summary/gpu/gpu_meter.h"

namespace mlrun {
namespace {

TEST(GpuSamples, ThrottleReasonsHaveNames) {
  EXPECT_EQ(trace::throttle_text(0), "");
  EXPECT_EQ(trace::throttle_text(0x4 | 0x40), "sw_power_cap hw_thermal");
  EXPECT_EQ(trace::throttle_text(int64_t{1} << 40), "bit_40");
}

TEST(GpuSamples, DevicesThatCannotBeReadAreLeftOut) {
  const auto devices = trace::read_gpus({"{", "[]", R"({"number":0})", R"({"number":"1"})",
                                         R"({"number":2,"kind":"gpu","uuid":7,"index":1,"memory_bytes":80})"});
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].gpu_id, 2);
  EXPECT_EQ(devices[0].uuid, "");
  EXPECT_EQ(devices[0].memory_bytes, 80);
}

mlrun_gpu_sample sample(uint64_t interval_ns, int64_t percent, int64_t energy_mj) {
  mlrun_gpu_sample row{};
  std::fill(std::begin(row.values), std::end(row.values), MLRUN_NOT_KNOWN);
  row.device = 1;
  row.interval_ns = interval_ns;
  row.values[MLRUN_GPU_SM_PERCENT] = percent;
  row.values[MLRUN_GPU_ENERGY_MJ] = energy_mj;
  return row;
}

TEST(GpuSamples, MeansAreOverTimeAndMissingValuesAreUnknown) {
  summary::GpuMeter meter;
  meter.add(sample(0, 90, MLRUN_NOT_KNOWN));  // the first sample covers no time
  meter.add(sample(300, 100, 7));
  meter.add(sample(100, 0, 5));
  std::vector<model::GpuRow> devices(2);
  devices[0].gpu_id = 1;
  devices[1].gpu_id = 2;
  const auto gpus = meter.finish(devices);
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].busy_ppm, 750'000);
  EXPECT_EQ(gpus[0].energy_mj, 12);
  EXPECT_EQ(gpus[0].samples, 3);
  EXPECT_EQ(gpus[0].power_mean_mw, -1);
  EXPECT_EQ(gpus[0].throttled_ns, -1);
}

TEST(GpuSamples, ImpossibleNumbersDoNotOverflow) {
  summary::GpuMeter meter;
  for (int i = 0; i < 3; ++i) meter.add(sample(INT64_MAX, INT64_MAX, INT64_MAX));
  std::vector<model::GpuRow> devices(1);
  devices[0].gpu_id = 1;
  const auto gpus = meter.finish(devices);
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].busy_ppm, -1);
  EXPECT_EQ(gpus[0].energy_mj, INT64_MAX);
}

}  // namespace
}  // namespace mlrun
