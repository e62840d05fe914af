// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/merge.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/findings/answer.h"
#include "runner/idle/python_lines.h"
#include "runner/summary/gpu/gpu_meter.h"
#include "runner/summary/meters/python_meter.h"
#include "runner/summary/tables/phase_times.h"
#include "runner/summary/tables/tables.h"
#include "runner/symbols/symbolize.h"
#include "runner/trace/access/access_pass.h"
#include "runner/trace/access/page_pass.h"
#include "runner/trace/coverage/left_out.h"
#include "runner/trace/coverage/losses.h"
#include "runner/trace/identity/process_ends.h"
#include "runner/trace/marks/log_writers.h"
#include "runner/trace/merge/cuda_merge.h"
#include "runner/trace/merge/kept_files.h"
#include "runner/trace/merge/kernel_merge.h"
#include "runner/trace/merge/optional_tables.h"
#include "runner/trace/merge/progress.h"
#include "runner/trace/merge/row_feed.h"
#include "runner/trace/merge/run_json.h"
#include "runner/trace/merge/small_tables.h"
#include "runner/trace/merge/staging_folder.h"
#include "runner/trace/merge/table_files.h"
#include "runner/trace/rows/slice_rows.h"
#include "runner/trace/samples/gpu_samples.h"
#include "runner/trace/samples/host_samples.h"
#include "runner/trace/samples/python_stacks.h"
#include "runner/trace/spool/session_info.h"
#include "runner/util/in_order.h"
#include "runner/util/spilled_memory.h"

namespace mlrun::trace {
namespace {
constexpr unsigned kThreadsMax = 8;          // more threads would only wait for RowFeed, which takes slice by slice
constexpr uint64_t kRowsInMemory = 800'000;  // of all threads; a row takes about 200 bytes until it is written
constexpr uint64_t kRowsPerSlice = 200'000;  // more take the kernel longer to fill with zeros than they save
constexpr double kScanShare = 0.15;          // share of the first pass in the progress line

// The buffers of one thread of the merge.
struct Worker {
  Worker(SpoolIndex& index, const std::string& tables, bool has_gpu, CallJoin* join)
      : reader(index), writer(tables, has_gpu, join) {}
  SliceReader reader;
  TableFileWriter writer;
  SliceRows slice_rows;
  int64_t first_call_id = 1;
};

class Merger {
 public:
  explicit Merger(const MergeOptions& options)
      : options_(options), threads_(options.threads), progress_(options.shows_progress) {
    if (threads_ == 0) threads_ = std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMax);
  }

  Result<summary::Summary> run();

 private:
  Status load();
  void read_mllog();
  void settle_phases();
  [[nodiscard]] bool has_cupti() const;
  [[nodiscard]] bool has_gpu() const { return has_cupti() || cuda_->present(); }
  void prepare();
  [[nodiscard]] uint64_t rows_per_slice() const { return std::min(kRowsPerSlice, kRowsInMemory / threads_); }
  Status merge_rows(const StagingFolder& staging, KeptFiles& kept);
  Status merge_cuda(TableFileWriter& writer, size_t number);
  Status merge_samples(const StagingFolder& staging);
  Status blame_gaps(const StagingFolder& staging);
  void note_collectives();
  void complete_info();
  Status write_tables(StagingFolder& staging, summary::Summary& summary);
  Result<summary::Summary> finish(StagingFolder& staging);

  const MergeOptions& options_;
  unsigned threads_;
  Progress progress_;
  SessionInfo session_;
  std::string made_of_;
  model::TraceInfo info_;
  std::unique_ptr<SpoolIndex> index_;
  Mllog mllog_;
  std::unique_ptr<KernelMerge> kernel_;
  std::unique_ptr<CudaMerge> cuda_;
  std::unique_ptr<RowFeed> feed_;
  summary::GpuMeter gpus_;
  summary::PythonMeter python_;
  idle::PythonLines python_lines_;
  PythonTotals python_totals_;
  std::vector<summary::CollectiveSummary> collectives_;
  AccessPass accesses_;
  PagePass pages_;
};

Status Merger::load() {
  auto session = SessionInfo::read(options_.trace_folder);
  if (!session) return tl::make_unexpected(session.error());
  session_ = *std::move(session);
  made_of_ = KeptFiles::made_of(options_.trace_folder, session_.mllog, rows_per_slice());
  const SpoolOptions spool{options_.trace_folder + "/" + MLRUN_SPOOL_FILE,
                           session_.clock_kind,
                           session_.anchors,
                           threads_,
                           session_.alloc_sample_bytes,
                           options_.trace_folder + "/" + MLRUN_KEPT_FILE,
                           options_.trace_folder + "/" + MLRUN_SUMS_FILE,
                           session_.run.options.summary_only,
                           session_.standard_files};
  progress_.begin(kScanShare, 0);
  auto index = SpoolIndex::load(spool, info_, [&](size_t done, size_t all) { progress_.reached(done, all); });
  if (!index) return tl::make_unexpected(index.error());
  index_ = *std::move(index);
  if (Status added = add_seen_threads(*index_, info_); !added) return added;
  kernel_ = std::make_unique<KernelMerge>(options_.trace_folder, session_.run);
  cuda_ = std::make_unique<CudaMerge>(session_.run, info_.stacks);
  if (!kernel_->present()) return {};
  return kernel_->load(info_, [this](const decode::KernelReader& reader) { cuda_->add_mappings(reader); });
}

void Merger::read_mllog() {
  mllog_ = read_logs(*index_, session_, info_.files, rows_per_slice());
  info_.marks = std::move(mllog_.marks);
  info_.phases = mllog_.phases;
}

// Requires: all rows were fed, since calls that write to the MLLOG files shift the bounds of phases.
void Merger::settle_phases() {
  feed_->log_writes.finish();
  settle(mllog_, feed_->log_writes);
  feed_->builder.settle_phases(mllog_.phases);
  info_.phases = mllog_.phases;
}

bool Merger::has_cupti() const { return index_->has_gpu_work() || session_.run.has_stream("gpu"); }

// The table `name` has names of libraries first, then names of marks in order of appearance.
void Merger::prepare() {
  read_mllog();
  for (const std::string& library : index_->modules().libraries()) {
    info_.names.push_back({static_cast<int64_t>(info_.names.size()) + 1, library});
  }
  info_.gpus = read_gpus(index_->gpu_texts());
  index_->gpu_facts().place_devices(info_, index_->strings());
  feed_ = std::make_unique<RowFeed>(*index_, info_, session_, mllog_, *kernel_);
}

// Writes the GPU work of observed processes as files with numbers from `number` on.
Status Merger::merge_cuda(TableFileWriter& writer, size_t number) {
  if (!kernel_->present() || !cuda_->present()) return {};
  return cuda_->run(*kernel_, info_, [&](const SliceRows& slice_rows) {
    for (const RowRef& ref : slice_rows.order) feed_->gpu_figures.add(slice_rows.gpu[ref.index], feed_->marks.paths());
    return writer.write(slice_rows, number++, feed_->totals.calls + 1);
  });
}

Status Merger::merge_rows(const StagingFolder& staging, KeptFiles& kept) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < threads_; ++i) {
    workers.push_back(std::make_unique<Worker>(*index_, staging.tables(), has_gpu(), kernel_->join()));
    workers.back()->writer.set(PlacedNodes(session_.run.placement));
  }
  auto slices = index_->frame_ranges().slices(rows_per_slice(),
                                              [&](const Slice& slice) { return workers[0]->reader.count(slice); });
  if (!slices) return tl::make_unexpected(slices.error());
  TableFileWriter& first_writer = workers[0]->writer;
  if (slices->empty()) {
    const Status written = first_writer.write(SliceRows{}, 0, 1);
    return written ? merge_cuda(first_writer, 1) : written;
  }
  const auto finish_marks = [&](const Status& merged) {
    const SliceRows rest = feed_->marks.finish(feed_->mark_meter);
    const bool has_more = merged && !rest.marks.empty();
    const Status written = has_more ? first_writer.write(rest, slices->size(), feed_->totals.calls + 1) : merged;
    return written ? merge_cuda(first_writer, slices->size() + 1) : written;
  };

  if (kept.count() != 0 && options_.shows_progress) {
    progress_.say(
        fmt::format("resuming an interrupted merge: {} of {} slices are written", kept.count(), slices->size()));
  }
  progress_.begin(1 - kScanShare, index_->frame_ranges().rows());
  return finish_marks(util::in_order(
      slices->size(), threads_,
      [&](unsigned thread, size_t number) {
        return workers[thread]->reader.read((*slices)[number], workers[thread]->slice_rows);
      },
      [&](unsigned thread, size_t) -> Status {
        workers[thread]->first_call_id = feed_->totals.calls + 1;
        feed_->add(workers[thread]->slice_rows);
        return {};
      },
      [&](unsigned thread, size_t number) {
        Worker& worker = *workers[thread];
        Status written;
        if (kept.has(number)) {
          worker.writer.pass(worker.slice_rows, worker.first_call_id);
        } else {
          written = worker.writer.write(worker.slice_rows, number, worker.first_call_id);
          if (written) kept.add(number);
        }
        progress_.advance(worker.slice_rows.order.size());
        return written;
      }));
}

Status Merger::merge_samples(const StagingFolder& staging) {
  const auto written = write_gpu_samples(*index_, info_, staging.tables(), gpus_);
  if (!written) return tl::make_unexpected(written.error());
  feed_->totals.gpu_samples = *written;
  if (Status host = write_host_samples(*index_, info_, staging.tables(), feed_->totals.host_samples); !host)
    return host;
  const auto python = write_python_stacks(*index_, info_, staging.tables(), python_, python_lines_);
  if (!python) return tl::make_unexpected(python.error());
  python_totals_ = *python;
  feed_->totals.python_stacks = python->rows;
  return {};
}

// Requires: all other event tables are written.
Status Merger::blame_gaps(const StagingFolder& staging) {
  if (!has_cupti()) return {};
  const int64_t cuda_calls = feed_->gpu_join.totals().rows[static_cast<size_t>(model::GpuKind::kApi)];
  idle::IdleOptions options{.folder = staging.path()};
  options.rows = feed_->totals.calls + cuda_calls + kernel_->waits();
  options.calls_recorded = feed_->totals.calls > 0;
  options.has_kernel_side = kernel_->present();
  options.sees_sleeps = kernel_->sees_sleeps();
  options.has_gpu_file_calls = kernel_->has_gpu_file_calls();
  return feed_->gpu_figures.blame_gaps(options, info_, python_lines_, feed_->marks.paths());
}

void Merger::note_collectives() {
  collectives_ = feed_->marks.collectives().meter().finish();
  if (mllog_.outside != 0) {
    const auto outside = static_cast<int64_t>(mllog_.outside), kept = static_cast<int64_t>(info_.marks.size());
    info_.coverage.push_back({0, "marks and intervals of the MLLOG files", "before or after the run: left out", kept,
                              kept + outside, model::kRemark});
  }
  add_remarks(info_, feed_->marks.coverage());
}

void Merger::complete_info() {
  settle_phases();
  symbols::symbolize(info_.stacks, session_.run.clock.start.realtime_ns.value_or(0));
  feed_->totals.marks = feed_->marks.rows() + static_cast<int64_t>(info_.marks.size());
  feed_->totals.unmatched_mark_ends = static_cast<int64_t>(feed_->marks.unmatched_ends());
  withdraw_ends(info_.processes, session_.run);
  note_exit_status(info_.processes, session_.run.wait_status);
  info_.losses = find_losses(*index_, session_.run, mllog_,
                             {feed_->totals.damaged_samples(), feed_->marks.ranges_left_out(),
                              python_totals_.damaged_rows, python_totals_.left_out});
  feed_->totals.gpu = feed_->gpu_join.totals();
  for (size_t kind = 0; kind < model::kGpuKinds; ++kind) feed_->totals.gpu.rows[kind] += cuda_->rows()[kind];
  std::ranges::move(feed_->gpu_join.losses(), std::back_inserter(info_.losses));
  std::ranges::move(index_->gpu_facts().losses(index_->channels(), info_), std::back_inserter(info_.losses));
  info_.folded = feed_->fold.finish();
  info_.left_out = find_left_out(*index_);
  info_.coverage = feed_->coverage.finish(*index_, session_.run, info_);
  kernel_->add_gaps(info_);
  cuda_->add_gaps(info_);
  if (feed_->sum_table) {
    info_.sums = feed_->sum_table->finish(std::move(feed_->sums->rows()), mllog_.phases);
    add_remarks(info_, SumTable::coverage(info_.sums, feed_->sums->state()));
    if (auto unsaved = unsaved_loss(session_.run, feed_->sums->state())) info_.losses.push_back(*std::move(unsaved));
  }
  note_collectives();
  const bool stacks_wanted = session_.run.options.stack_depth != 0;
  std::ranges::move(feed_->gpu_join.coverage(has_cupti(), stacks_wanted), std::back_inserter(info_.coverage));
  add_remarks(info_, feed_->gpu_figures.take_coverage());
  add_remarks(info_, python_coverage(session_.run, *index_));
  add_remarks(info_, gpu_sample_coverage(session_.run, info_));
  add_remarks(info_, counter_sample_coverage(session_.run));
  add_remarks(info_, accesses_.coverage(session_.run));
  std::ranges::move(index_->gpu_facts().coverage(index_->channels(), index_->strings()),
                    std::back_inserter(info_.coverage));
  info_.run = make_run_json(session_.run, *index_, info_, feed_->totals);
  kernel_->describe(*info_.run);
  accesses_.describe(info_, *info_.run);
  pages_.describe(info_, *info_.run);
  if (nlohmann::json steps = feed_->gpu_figures.describe_steps(); !steps.is_null())
    (*info_.run)["gpu_steps"] = std::move(steps);
}

Status Merger::write_tables(StagingFolder& staging, summary::Summary& summary) {
  Status done = write_small_tables(info_, staging.path());
  const findings::AnswerOptions options{.has_rows = !session_.run.options.summary_only && feed_->totals.calls != 0};
  if (done) done = findings::answer(staging.path(), summary.run, options, summary.answer);
  if (done) done = summary::add_phase_times(staging.path(), summary.phases);
  summary.python = python_.finish(summary.processes, info_.stacks, summary.answer.driver_thread_id);
  if (done) done = summary::write_tables(summary, staging.path());
  if (done) done = complete_tables(staging.tables(), *info_.run);
  if (done) done = staging.commit();
  return done ? model::write_run(*info_.run, options_.trace_folder) : done;
}

Result<summary::Summary> Merger::finish(StagingFolder& staging) {
  Status written = feed_->marks.collectives().finish();
  if (written && kernel_->present())
    written = kernel_->write(info_, staging.tables(), feed_->builder, index_->events_from_ns());
  if (written) written = blame_gaps(staging);
  if (written) written = accesses_.run(*index_, session_.run, info_, staging.path());
  if (written) written = pages_.run(*index_, session_.run, info_, staging.path());
  const std::vector<RecordingPause> pauses = pauses_of(*index_);
  if (written)
    written = feed_->gpu_figures.find_sites(info_, session_.run.options.alloc_min_bytes, pauses, staging.path());
  if (!written) return tl::make_unexpected(written.error());
  complete_info();
  summary::Summary summary = feed_->builder.finish(info_);
  summary.gpus = gpus_.finish(info_.gpus);
  summary.machine = std::move(feed_->totals.host_samples.counters.machine);
  summary.marks = feed_->mark_meter.finish(info_.names);
  summary.mark_records = feed_->mark_meter.records();
  summary.collectives = std::move(collectives_);
  feed_->gpu_figures.finish(info_, feed_->marks.paths(), summary);
  summary::complete(info_, summary);
  if (Status all = write_tables(staging, summary); !all) return tl::make_unexpected(all.error());
  return summary;
}

Result<summary::Summary> Merger::run() {
  if (auto loaded = load(); !loaded) return tl::make_unexpected(loaded.error());
  prepare();
  if (session_.run.options.summary_only) {
    const Status loaded = feed_->load_sums(*index_, options_.trace_folder + "/" + MLRUN_SUMS_FILE);
    if (!loaded) return tl::make_unexpected(loaded.error());
  }
  auto staging = StagingFolder::create(options_.trace_folder);
  if (!staging) return tl::make_unexpected(staging.error());
  KeptFiles kept(staging->path(), TableFileWriter::tables(has_gpu()));
  // Traces with GPU work are merged from scratch: name_id of a kernel depends on the order in which rows are read.
  const std::string made_of = has_gpu() ? std::string() : KeptFiles::made_of(made_of_, info_);
  if (auto opened = kept.open(made_of); !opened) return tl::make_unexpected(opened.error());
  feed_->marks.collectives().write_to(staging->tables());
  if (auto merged = merge_rows(*staging, kept); !merged) return tl::make_unexpected(merged.error());
  if (auto merged = merge_samples(*staging); !merged) return tl::make_unexpected(merged.error());
  return finish(*staging);
}

}  // namespace

Result<summary::Summary> merge(const MergeOptions& options) {
  const util::SpillFolder spill(options.trace_folder);
  return Merger(options).run();
}

}  // namespace mlrun::trace
