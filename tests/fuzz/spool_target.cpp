// SPDX-License-Identifier: Apache-2.0
// Fuzz target: libFuzzer calls it with the bytes of a spool, replay with spools that once crashed the merger. It runs
// the whole merge except Parquet; for one input in kMergeEvery, chosen by a hash of its bytes, also Parquet and the
// report. An input may hold all files of a run (SpoolFiles); one with sums is a run with --summary-only. The only
// requirement is that it returns within the caller's limits.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/report/json/json.h"
#include "runner/report/text/text.h"
#include "runner/summary/gpu/gpu_work_meter.h"
#include "runner/summary/meters/builder.h"
#include "runner/summary/meters/mark_meter.h"
#include "runner/summary/tables/tables.h"
#include "runner/trace/coverage/coverage.h"
#include "runner/trace/coverage/left_out.h"
#include "runner/trace/coverage/losses.h"
#include "runner/trace/gpu/gpu_join.h"
#include "runner/trace/marks/mark_tracker.h"
#include "runner/trace/merge/call_fold.h"
#include "runner/trace/merge/kernel_merge.h"
#include "runner/trace/merge/merge.h"
#include "runner/trace/merge/run_json.h"
#include "runner/trace/merge/sum_table.h"
#include "runner/trace/merge/sums_file.h"
#include "runner/trace/rows/counter_tracker.h"
#include "runner/trace/rows/offset_tracker.h"
#include "runner/trace/rows/position_losses.h"
#include "runner/trace/rows/slice_rows.h"
#include "runner/trace/samples/gpu_samples.h"
#include "runner/trace/samples/host_samples.h"
#include "runner/trace/samples/python_stacks.h"
#include "runner/util/crc32c.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/unique_fd.h"
#include "tests/fuzz/accepted.h"
#include "tests/fuzz/spool_pieces.h"

namespace mlrun {
namespace {

constexpr uint32_t kMergeEvery = 64;
constexpr uint64_t kRowsPerSlice = 64;  // few, so that small spools have many slices
constexpr int64_t kSampleBytes = 4096, kFoldNs = 2000;

// Options of the merge, derived from the input's bytes.
struct Wishes {
  explicit Wishes(uint32_t hash)
      : merges(hash % kMergeEvery == 0),
        samples((hash >> 8) % 4 == 0),
        folds((hash >> 16) % 4 == 0),
        follows_cuda((hash >> 24) % 2 == 0) {}
  bool merges, samples, folds, follows_cuda;
};

void expect(bool holds) {
  if (!holds) std::abort();
}

std::string session_text(bool summary_only, bool follows_cuda) {
  nlohmann::json streams = {"files", "allocs", "torch", "cufile"};
  if (follows_cuda) streams.push_back("cuda");
  nlohmann::json session = {
      {"command", {"program"}},
      {"cwd", "/"},
      {"clock", {{"kind", "tsc"}}},
      {"options", {{"summary_only", summary_only}, {"streams", std::move(streams)}}},
      {"kernel_side", {{"state", "recorded"}, {"programs", {{{"signal", "wait"}, {"event", "sched_switch"}}}}}}};
  return session.dump();
}

void write(const std::string& path, std::string_view bytes) {
  if (bytes.empty()) {
    ::unlink(path.c_str());
    return;
  }
  constexpr mode_t kMode = 0600;
  const util::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  expect(fd.valid() && ::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
}

// A trace folder in memory that lasts as long as the process.
class Folder {
 public:
  Folder() {
    std::string pattern = "/dev/shm/mlrun-fuzz-XXXXXX";
    expect(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void put(const testing::SpoolFiles& files, const Wishes& wishes) {
    write(path_ + "/session.json", session_text(!files.sums.empty(), wishes.follows_cuda));
    constexpr int kOwner = 0600;
    const std::string spool = path_ + "/" + MLRUN_SPOOL_FILE;
    const util::UniqueFd there(::open(spool.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwner));
    expect(there.valid());  // also an empty one
    if (!files.spool.empty()) write(spool, files.spool);
    write(path_ + "/" + MLRUN_KEPT_FILE, files.kept);
    write(path_ + "/" + MLRUN_KERNEL_FILE, files.kernel);
    write(path_ + "/" + MLRUN_SUMS_FILE, files.sums);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Everything that sees the rows pass by in order.
class Feed {
 public:
  Feed(trace::SpoolIndex& index, model::TraceInfo& info, trace::KernelMerge& kernel, int64_t fold_ns)
      : offsets_(index.files(), trace::position_losses(index)),
        counters_(index.channels()),
        fold_(fold_ns),
        kernel_(kernel),
        marks_(index, info),
        gpu_join_(index, marks_.names(), info.gpus),
        sums_(index) {}

  bool load_sums(const std::string& folder) {
    if (!sums_.read(folder + "/" + MLRUN_SUMS_FILE)) return false;
    sum_table_.emplace(sums_.stretches());
    sums_.feed(builder_, counters_, log_writes_);
    for (const model::SumRow& sum : sums_.rows()) coverage_.add(sum);
    return true;
  }
  [[nodiscard]] bool has_sums() { return !sums_.rows().empty(); }
  void add(trace::SliceRows& slice_rows) {
    offsets_.apply(slice_rows);
    counters_.apply(slice_rows);
    marks_.apply(slice_rows, mark_meter_);
    kernel_.split(slice_rows);
    gpu_join_.apply(slice_rows);
    for (const trace::RowRef& ref : slice_rows.order) {
      switch (ref.kind) {
        case trace::RowKind::kCall:
          coverage_.add(slice_rows.calls[ref.index]);
          builder_.add(slice_rows.calls[ref.index]);
          if (trace::CallJoin* join = kernel_.join()) join->call(slice_rows.calls[ref.index], ++calls_);
          break;
        case trace::RowKind::kAlloc: builder_.add(slice_rows.allocs[ref.index]); break;
        case trace::RowKind::kCounters: builder_.add(slice_rows.alloc_small[ref.index]); break;
        case trace::RowKind::kMark: break;
        default: gpu_work_.add(slice_rows.gpu[ref.index]); break;
      }
    }
    fold_.apply(slice_rows);
    if (sum_table_) sum_table_->add(slice_rows);
  }
  void finish(trace::SpoolIndex& index, const model::Run& session, model::TraceInfo& info) {
    static_cast<void>(marks_.finish(mark_meter_));
    info.losses = trace::find_losses(index, session, {}, {0, marks_.ranges_left_out()});
    for (model::LossRow& row : gpu_join_.losses()) info.losses.push_back(std::move(row));
    info.folded = fold_.finish();
    info.left_out = trace::find_left_out(index);
    info.coverage = coverage_.finish(index, session, info);
    if (sum_table_) info.sums = sum_table_->finish(std::move(sums_.rows()), {});
    info.run = trace::make_run_json(session, index, info, {});
    summary::Summary summary = builder_.finish(info);
    summary.marks = mark_meter_.finish(info.names);
    summary.gpu_work = gpu_work_.devices(info.gpus);
    summary.gpu_kernels = gpu_work_.kernels(info.names);
    summary.gpu_calls = gpu_work_.calls();
    show(summary);
  }
  static void show(const summary::Summary& summary) {
    static_cast<void>(util::json_text(report::to_json(summary)));
    static_cast<void>(report::text(summary, "trace", {}));
  }

 private:
  trace::OffsetTracker offsets_;
  trace::CounterTracker counters_;
  trace::LogWrites log_writes_{{}, {}};
  trace::CallFold fold_;
  trace::CoverageMeter coverage_;
  trace::KernelMerge& kernel_;
  trace::MarkTracker marks_;
  trace::GpuJoin gpu_join_;
  trace::SumsFile sums_;
  std::optional<trace::SumTable> sum_table_;
  summary::MarkMeter mark_meter_;
  summary::GpuWorkMeter gpu_work_;
  summary::Builder builder_;
  int64_t calls_ = 0;
};

trace::SpoolOptions options_for(const Folder& folder, const trace::SessionInfo& session, const Wishes& wishes) {
  return {folder.path() + "/" + MLRUN_SPOOL_FILE,
          session.clock_kind,
          session.anchors,
          1,
          wishes.samples ? kSampleBytes : 0,
          folder.path() + "/" + MLRUN_KEPT_FILE,
          folder.path() + "/" + MLRUN_SUMS_FILE,
          session.run.options.summary_only};
}

bool accepted = false;

// Errors are an answer: only harm is not.
void decode_folder(const Folder& folder, const Wishes& wishes) {
  const auto session = trace::SessionInfo::read(folder.path());
  expect(session.has_value());
  model::TraceInfo info;
  auto index = trace::SpoolIndex::load(options_for(folder, *session, wishes), info, [](size_t, size_t) {});
  if (!index) return;
  trace::KernelMerge kernel(folder.path(), session->run);
  if (kernel.present() && !kernel.load(info)) return;
  summary::PythonMeter python;
  idle::PythonLines python_lines;
  const bool has_python = !(*index)->python_frames().empty();  // its table is a file, which takes its time
  if (has_python && !trace::write_python_stacks(**index, info, folder.path(), python, python_lines)) return;
  if (!trace::add_seen_threads(**index, info)) return;
  trace::HostSampleTotals host;
  const bool has_samples = !(*index)->sample_frames().empty();
  if (has_samples && !trace::write_host_samples(**index, info, folder.path(), host)) return;
  info.gpus = trace::read_gpus((*index)->gpu_texts());
  (*index)->gpu_facts().place_devices(info, (*index)->strings());
  trace::SliceReader reader(**index);
  const auto slices =
      (*index)->frame_ranges().slices(kRowsPerSlice, [&](const trace::Slice& slice) { return reader.count(slice); });
  if (!slices) return;
  Feed feed(**index, info, kernel, wishes.folds ? kFoldNs : 0);
  if (session->run.options.summary_only && !feed.load_sums(folder.path())) return;
  bool has_rows = feed.has_sums();
  trace::SliceRows slice_rows;
  for (const trace::Slice& slice : *slices) {
    if (!reader.read(slice, slice_rows)) return;
    has_rows = has_rows || !slice_rows.order.empty();
    feed.add(slice_rows);
  }
  feed.finish(**index, session->run, info);
  accepted = has_rows;
}

void merge(const Folder& folder) {
  if (!trace::merge({folder.path(), 2, false})) return;
  const auto summary = summary::read_tables(folder.path());
  expect(summary.has_value());
  Feed::show(*summary);
}

}  // namespace

bool testing::was_accepted() { return accepted; }

}  // namespace mlrun

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static mlrun::Folder folder;
  const mlrun::Wishes wishes(mlrun::util::crc32c(0, data, size));
  folder.put(mlrun::testing::split_files({reinterpret_cast<const char*>(data), size}), wishes);
  mlrun::accepted = false;
  mlrun::decode_folder(folder, wishes);
  if (wishes.merges) mlrun::merge(folder);
  return 0;
}
