// SPDX-License-Identifier: Apache-2.0
// What the builder costs per row and how much memory it takes. Usage: summary_builder_bench [ROWS [FILES [scattered]]]
//
// Eight processes; three rows in ten are calls: open, four reads, stat, close on one of FILES files, in random order;
// the rest are allocations and releases with 20,000 live blocks a process, nine in ten released soon. "scattered" makes
// it as bad for caches as it gets: a fifth of the reads at random offsets of 1 GiB, 100,000 live blocks a process, any
// of them released.
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "runner/events/record.h"
#include "runner/summary/meters/builder.h"
#include "tests/runner/summary/small_training.h"

namespace mlrun::summary {
namespace {

constexpr int kProcesses = 8;

struct Process {
  int64_t file_id = 1, ofd_id = 0, offset = 0;
  int step = 0;
  std::vector<uint64_t> live;
};

struct Workload {
  Workload(int64_t files, bool scatter) : any_file(1, files), scattered(scatter) {}

  model::CallRow next_call(int32_t proc_id, double at) {
    Process& process = processes[size_t(proc_id - 1)];
    const int step = process.step++ % 7;
    if (step == 0) {
      process.file_id = any_file(random);
      process.ofd_id = ++last_ofd_id;
      process.offset = 0;
    }
    if (step >= 1 && step <= 4) {
      const int64_t offset = scattered && random() % 5 == 0 ? int64_t(random() % (1 << 30)) : process.offset;
      const auto bytes = int64_t(4096 << random() % 8);
      process.offset = offset + bytes;
      return testing::transfer(proc_id, testing::kRead, process.file_id, process.ofd_id, at,
                               int64_t(random() % 100'000), offset, bytes);
    }
    const uint16_t func = step == 0 ? testing::kOpen : step == 5 ? testing::kStat : testing::kClose;
    model::CallRow row = testing::call(proc_id, func, process.file_id, at, int64_t(random() % 10'000));
    row.ofd_id = process.ofd_id;
    return row;
  }

  model::AllocRow next_alloc(int32_t proc_id, double at) {
    std::vector<uint64_t>& live = processes[size_t(proc_id - 1)].live;
    if (live.size() < (scattered ? 100'000 : 20'000) || random() % 2 == 0) {
      live.push_back(next_address += 16 + 16 * (random() % 64));
      return testing::allocation(proc_id, at, live.back(), int64_t(1024 + random() % 65536),
                                 int64_t(1 + random() % 20));
    }
    const size_t soon = scattered || random() % 10 == 0 ? live.size() : 16;
    std::swap(live[live.size() - 1 - random() % soon], live.back());
    const uint64_t address = live.back();
    live.pop_back();
    return testing::release(proc_id, at, address);
  }

  std::mt19937_64 random{1};
  std::uniform_int_distribution<int64_t> any_file;
  bool scattered;
  std::vector<Process> processes = std::vector<Process>(kProcesses);
  int64_t last_ofd_id = 0;
  uint64_t next_address = 0x7f0000000000;
};

double seconds_of(auto work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Rows are made in batches, so that making them is not timed.
int measure(int64_t rows, int64_t files, bool scattered) {
  constexpr int64_t kBatch = 1000;
  const model::TraceInfo info = testing::small_training_info();
  Workload workload(files, scattered);
  Builder builder({.start_ns = testing::kStart, .phases = info.phases, .undecided = {}});
  double seconds = 0;
  int64_t calls = 0;
  for (int64_t done = 0; done < rows; done += kBatch) {
    std::vector<model::CallRow> call_rows;
    std::vector<model::AllocRow> alloc_rows;
    std::vector<bool> is_call;
    for (int64_t i = 0; i < kBatch; ++i) {
      const auto proc_id = int32_t(1 + workload.random() % kProcesses);
      const double at = double(done + i) * 0.0005;
      is_call.push_back(workload.random() % 10 < 3);
      if (is_call.back()) {
        call_rows.push_back(workload.next_call(proc_id, at));
      } else {
        alloc_rows.push_back(workload.next_alloc(proc_id, at));
      }
    }
    calls += int64_t(call_rows.size());
    seconds += seconds_of([&] {
      size_t call = 0, alloc = 0;
      for (const bool is : is_call) is ? builder.add(call_rows[call++]) : builder.add(alloc_rows[alloc++]);
    });
  }
  Summary summary;
  const double finish_seconds = seconds_of([&] { summary = builder.finish(info); });
  std::printf("%.1f ns a row, %lld rows (%lld calls), finish %.3f s, peak %lld MiB, re-read ratio %.2f\n",
              seconds * 1e9 / double(rows), static_cast<long long>(rows), static_cast<long long>(calls), finish_seconds,
              static_cast<long long>(peak_kib() / 1024),
              double(summary.reread.bytes_read) / double(summary.reread.distinct_bytes));
  return 0;
}

}  // namespace
}  // namespace mlrun::summary

int main(int argc, char** argv) {
  return mlrun::summary::measure(argc > 1 ? std::atoll(argv[1]) : 10'000'000, argc > 2 ? std::atoll(argv[2]) : 10'000,
                                 argc > 3);
}
