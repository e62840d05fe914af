// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/gpu/gpu_mark_meter.h"

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

model::GpuWorkRow kernel(int32_t path, int64_t start_ns, int64_t end_ns) {
  model::GpuWorkRow row;
  row.kind = model::GpuKind::kKernel;
  row.gpu_id = 1;
  row.origin.ts_ns = start_ns;
  row.dur_ns = end_ns - start_ns;
  row.mark_path = path;
  return row;
}

int32_t path_of(MarkPaths& paths, int32_t parent, int64_t name) {
  return paths.path_of(parent, static_cast<uint64_t>(name), name, [] { return std::string("api"); });
}

const std::vector<model::NameRow> kNames = {{1, "step"}, {2, "forward"}};

TEST(GpuMarkMeter, CountsWorkOnceWithEachNameAroundIt) {
  MarkPaths paths;
  const int32_t step = path_of(paths, 0, 1), forward = path_of(paths, step, 2), again = path_of(paths, forward, 1);
  EXPECT_EQ(path_of(paths, step, 2), forward);
  GpuMarkMeter meter;
  meter.add(kernel(step, 0, 10), paths);
  meter.add(kernel(forward, 5, 20), paths);
  meter.add(kernel(again, 30, 40), paths);  // a step in a step
  meter.add(kernel(0, 50, 60), paths);
  meter.add_idle(1, forward, 7, paths);
  const auto sums = meter.finish(paths, kNames);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].name, "step");
  EXPECT_EQ(sums[0].domain, "api");
  EXPECT_EQ(sums[0].kernels, 3);
  EXPECT_EQ(sums[0].own_kernels, 2);
  EXPECT_EQ(sums[0].kernel_ns, 35);
  EXPECT_EQ(sums[0].busy_ns, 30) << "what ran at once counts once";
  EXPECT_EQ(sums[0].idle_ns, 7);
  EXPECT_EQ(sums[1].name, "forward");
  EXPECT_EQ(sums[1].kernels, 2);
  EXPECT_EQ(sums[1].own_kernels, 1);
  EXPECT_EQ(sums[1].busy_ns, 25);
}

TEST(GpuMarkMeter, NamesBeyondTheLimitAreCountedTogether) {
  MarkPaths paths;
  GpuMarkMeter meter;
  const int64_t many = 2 * MarkPaths::kNamesMax;
  for (int64_t name = 1; name <= many; ++name)
    meter.add(kernel(path_of(paths, 0, name), 10 * name, 10 * name + 1), paths);
  int64_t kernels = 0, rest = 0;
  for (const GpuMarkSummary& of : meter.finish(paths, kNames)) {
    kernels += of.kernels;
    if (of.name == "(of further names and domains)") rest = of.kernels;
  }
  EXPECT_EQ(rest, many - static_cast<int64_t>(MarkPaths::kNamesMax) + 1) << "one place is that of the rest";
  EXPECT_EQ(kernels, rest + static_cast<int64_t>(kTopMarks) - 1);
}

TEST(GpuMarkMeter, DeeplyNestedRangesDoNoHarm) {
  MarkPaths paths;
  int32_t path = 0;
  for (int64_t name = 1; name <= 1000; ++name) path = path_of(paths, path, name);
  GpuMarkMeter meter;
  meter.add(kernel(path, 0, 10), paths);
  EXPECT_LE(meter.finish(paths, kNames).size(), MarkPaths::kDepthMax);
}

}  // namespace
}  // namespace mlrun::summary
