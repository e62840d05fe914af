// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/summary/small_training.h"

#include <fcntl.h>

#include <cerrno>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/events/record.h"

namespace mlrun::summary::testing {
namespace {

int64_t moment(double at) { return kStart + int64_t(at * double(kMillisecond)); }

model::Origin origin(int32_t proc_id, double at) {
  return {.ts_ns = moment(at),
          .proc_id = proc_id,
          .image_id = 1,
          .thread_id = proc_id,
          .pid = 99 + proc_id,
          .tid = 99 + proc_id};
}

model::ProcessRow process(int32_t proc_id, int32_t parent, bool forked, std::string command) {
  model::ProcessRow row;
  row.proc_id = proc_id;
  row.pid = row.ns_pid = 99 + proc_id;
  row.parent_proc_id = parent;
  row.first_ns = moment(proc_id - 1);
  row.last_ns = moment(40);
  row.command = std::move(command);
  row.forked = forked;
  return row;
}

model::FileRow file(std::string path, std::string file_system, std::string mount, std::string kind) {
  model::FileRow row;
  row.path = row.raw_path = std::move(path);
  row.file_system = std::move(file_system);
  row.mount = std::move(mount);
  row.kind = std::move(kind);
  return row;
}

void add_calls(Builder& builder) {
  model::CallRow opened = call(1, kOpen, kConfig, 1, 2000);
  opened.ofd_id = 11;
  builder.add(opened);
  builder.add(transfer(1, kFread, kConfig, 11, 1.5, 1000, 0, 300));
  model::CallRow missing = call(1, kStat, kMissing, 2, 1000);
  missing.err = ENOENT;
  missing.ret = -1;
  builder.add(missing);
  builder.add(call(1, kFork, 0, 3, 500'000));

  // Epoch 1, [10, 20): worker 2 reads case A whole in two reads, worker 3 again in one.
  builder.add(transfer(2, kRead, kCaseA, 21, 10, 1'000'000, 0, 1 << 20));
  builder.add(transfer(2, kRead, kCaseA, 21, 12, 1'000'000, 1 << 20, 1 << 20));
  builder.add(transfer(3, kRead, kCaseA, 31, 13, 3'000'000, 0, 2 << 20));
  model::CallRow pipe = transfer(1, kRead, kPipe, 99, 10, 8'000'000, -1, 16);
  pipe.file_kind = model::FileKind::kFifo;
  builder.add(pipe);

  // Epoch 2, [20, 30): worker 3 reads case B at the front, further on, and back.
  builder.add(transfer(3, kPread, kCaseB, 32, 20, 2'000'000, 0, 4096));
  builder.add(transfer(3, kPread, kCaseB, 32, 23, 1'000'000, 8192, 4096));
  builder.add(transfer(3, kPread, kCaseB, 32, 25, 1'000'000, 4096, 4096));

  model::CallRow append = call(1, kOpen, kCheckpoint, 31, 4000);
  append.ofd_id = 12;
  append.flags = O_WRONLY | O_APPEND;
  builder.add(append);
  builder.add(transfer(1, kWrite, kCheckpoint, 12, 32, 4'000'000, 500, 3 << 20));
  builder.add(call(1, kClose, kCheckpoint, 37, 1000));
}

void add_allocations(Builder& builder) {
  builder.add(allocation(1, 1, 0x1000, 4 << 20, 1));
  builder.add(allocation(1, 2, 0x2000, 1 << 20, 2));
  builder.add(reading(1, 3, 100, 64 << 10));
  builder.add(release(1, 4, 0x1000));
  builder.add(allocation(1, 5, 0x3000, 2 << 20, 2));
  builder.add(reading(1, 6, 50, -(32 << 10)));
  builder.add(allocation(2, 10, 0x9000, 1 << 20, 2));
}

}  // namespace

model::CallRow call(int32_t proc_id, uint16_t func, int64_t file_id, double at, int64_t dur_ns) {
  model::CallRow row;
  row.origin = origin(proc_id, at);
  row.func = func;
  row.file_id = file_id;
  row.file_kind = file_id == 0 ? model::FileKind::kUnknown : model::FileKind::kRegular;
  row.dur_ns = dur_ns;
  return row;
}

model::CallRow transfer(int32_t proc_id, uint16_t func, int64_t file_id, int64_t ofd_id, double at, int64_t dur_ns,
                        int64_t offset, int64_t bytes) {
  model::CallRow row = call(proc_id, func, file_id, at, dur_ns);
  row.ofd_id = ofd_id;
  row.offset = offset;
  row.offset_source = offset < 0 ? model::OffsetSource::kNone : model::OffsetSource::kDerived;
  row.requested = row.ret = bytes;
  return row;
}

model::AllocRow allocation(int32_t proc_id, double at, uint64_t address, int64_t bytes, int64_t library) {
  model::AllocRow row;
  row.origin = origin(proc_id, at);
  row.op = MLRUN_MALLOC;
  row.address = address;
  row.size = row.usable = bytes;
  row.site_library = library;
  return row;
}

model::AllocRow release(int32_t proc_id, double at, uint64_t address) {
  model::AllocRow row;
  row.origin = origin(proc_id, at);
  row.op = MLRUN_FREE;
  row.address = address;
  return row;
}

model::AllocSmallRow reading(int32_t proc_id, double at, int64_t mallocs, int64_t bytes) {
  model::AllocSmallRow row;
  row.origin = origin(proc_id, at);
  row.class_bytes = 64;
  row.mallocs = mallocs;
  row.bytes = bytes;
  return row;
}

model::TraceInfo small_training_info() {
  model::TraceInfo info;
  info.run = {{"command", {"python", "train.py", "--epochs", "2"}},
              {"exit_status", 0},
              {"wall_ns", 40 * kMillisecond},
              {"user_ns", 30 * kMillisecond},
              {"sys_ns", 5 * kMillisecond},
              {"clock", {{"start", {{"monotonic_ns", kStart}, {"realtime_ns", 1'790'000'000'000'000'000}}}}},
              {"collector", {{"cpu_ns", 2 * kMillisecond}}},
              {"cost",
               {{"source", "bench"},
                {"measured_realtime_ns", 1'780'000'000'000'000'000},
                {"cost_per_call_ns",
                 {{"alloc_listed", 15},
                  {"alloc_counted", 25},
                  {"call", 30},
                  {"path_call", 45.5},
                  {"open", 500},
                  {"fork", 80'000}}}}}};
  info.processes = {process(1, 0, false, "python train.py --epochs 2"),
                    process(2, 1, true, "python train.py --epochs 2"),
                    process(3, 1, true, "python train.py --epochs 2"),
                    process(4, 1, false, "python -c from multiprocessing.resource_tracker import main;main(5)")};
  info.images.push_back({1, 1, kStart, "/usr/bin/python3.11", "python train.py --epochs 2", "/home/me", ""});
  for (const int32_t proc_id : {2, 3})
    info.threads.push_back({proc_id, proc_id, 1, 99 + proc_id, 0, 0, "pt_data_worker"});
  info.files.push_back(file("/home/me/config.toml", "ext4", "/", "regular"));
  info.files.push_back(file("/data/kits/case_00000_x.npy", "xfs", "/data", "regular"));
  info.files.push_back(file("/data/kits/case_00001_x.npy", "xfs", "/data", "regular"));
  info.files.push_back(file("/data/out/checkpoint.pt", "xfs", "/data", "regular"));
  info.files.push_back(file("/home/me/missing", "", "", "unknown"));
  info.files.push_back(file("pipe:[17]", "pipefs", "", "fifo"));
  info.names = {{1, "/usr/lib/libtorch_cpu.so"}, {2, "/usr/lib/libc.so.6"}};
  info.phases.resize(2);
  for (int32_t i = 0; i < 2; ++i) {
    model::PhaseRow& phase = info.phases[size_t(i)];
    phase.phase_id = i + 1;
    phase.name = "epoch " + std::to_string(i + 1);
    phase.ts_ns = moment(10 + 10 * i);
    phase.dur_ns = moment(20 + 10 * i) - phase.ts_ns;
    phase.proc_id = 1;
  }
  return info;
}

Summary small_training() {
  const model::TraceInfo info = small_training_info();
  Builder builder({.start_ns = kStart, .phases = info.phases, .undecided = {}});
  add_allocations(builder);
  add_calls(builder);
  return builder.finish(info);
}

}  // namespace mlrun::summary::testing
