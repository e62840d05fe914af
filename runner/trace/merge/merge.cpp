// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/merge.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/findings/answer.h"
#include "runner/idle/python_lines.h"
#include "runner/summary/meters/builder.h"
#include "runner/summary/meters/gpu_meter.h"
#include "runner/summary/meters/python_meter.h"
#include "runner/summary/tables/phase_times.h"
#include "runner/summary/tables/tables.h"
#include "runner/symbols/symbolize.h"
#include "runner/trace/access/access_pass.h"
#include "runner/trace/coverage/coverage.h"
#include "runner/trace/coverage/left_out.h"
#include "runner/trace/coverage/losses.h"
#include "runner/trace/gpu/gpu_join.h"
#include "runner/trace/identity/process_ends.h"
#include "runner/trace/marks/log_writers.h"
#include "runner/trace/marks/mark_tracker.h"
#include "runner/trace/marks/mllog.h"
#include "runner/trace/merge/call_fold.h"
#include "runner/trace/merge/cuda_merge.h"
#include "runner/trace/merge/gpu_figures.h"
#include "runner/trace/merge/kept_parts.h"
#include "runner/trace/merge/kernel_merge.h"
#include "runner/trace/merge/optional_tables.h"
#include "runner/trace/merge/progress.h"
#include "runner/trace/merge/run_json.h"
#include "runner/trace/merge/small_tables.h"
#include "runner/trace/merge/staging_folder.h"
#include "runner/trace/merge/sum_table.h"
#include "runner/trace/merge/sums_file.h"
#include "runner/trace/merge/table_files.h"
#include "runner/trace/rows/counter_tracker.h"
#include "runner/trace/rows/mapping_files.h"
#include "runner/trace/rows/offset_tracker.h"
#include "runner/trace/rows/partition.h"
#include "runner/trace/rows/position_losses.h"
#include "runner/trace/samples/gpu_samples.h"
#include "runner/trace/samples/host_samples.h"
#include "runner/trace/samples/python_stacks.h"
#include "runner/trace/spool/session_info.h"
#include "runner/util/in_order.h"
#include "runner/util/spilled_memory.h"

namespace mlrun::trace {
namespace {
constexpr unsigned kThreadsMax = 8;          // more threads would only wait for feed(), which runs slice by slice
constexpr uint64_t kRowsInMemory = 800'000;  // of all threads; a row takes about 200 bytes until it is written
// Prefetch distances, in rows: rows in order of time, and the counters that they update, are scattered in memory.
constexpr size_t kRowsAhead = 32, kSlotsAhead = 20, kEntriesAhead = 12, kContentsAhead = 5;
constexpr double kScanShare = 0.15;  // share of the first pass in the progress line

// The buffers of one thread of the merge.
struct Worker {
  Worker(SpoolIndex& index, const std::string& tables, bool has_gpu, CallJoin* join)
      : reader(index), writer(tables, has_gpu, join) {}
  PartitionReader reader;
  PartWriter writer;
  Partition partition;
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
  void name_marks();
  [[nodiscard]] bool has_cupti() const;
  [[nodiscard]] bool has_gpu() const { return has_cupti() || cuda_->present(); }
  void prepare();
  Status load_sums();
  [[nodiscard]] uint64_t rows_per_part() const { return kRowsInMemory / threads_; }
  Status merge_rows(const StagingFolder& staging, KeptParts& parts);
  Status merge_cuda(PartWriter& writer, size_t part);
  Status merge_samples(const StagingFolder& staging);
  void feed(Worker& worker);
  void look_ahead(const Partition& partition, size_t at) const;
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
  std::unique_ptr<LogWrites> log_writes_;
  std::unique_ptr<summary::Builder> builder_;
  std::unique_ptr<OffsetTracker> offsets_;
  std::unique_ptr<MappingFiles> mappings_;
  std::unique_ptr<CounterTracker> counters_;
  std::unique_ptr<CallFold> fold_;
  std::unique_ptr<KernelMerge> kernel_;
  std::unique_ptr<CudaMerge> cuda_;
  std::unique_ptr<SumsFile> sums_;  // with --summary-only
  std::unique_ptr<SumTable> sum_table_;
  CoverageMeter coverage_;
  RowTotals totals_;
  summary::GpuMeter gpus_;
  summary::PythonMeter python_;
  idle::PythonLines python_lines_;
  uint64_t python_damaged_rows_ = 0, python_left_out_ = 0;
  std::unique_ptr<MarkTracker> marks_;
  std::unique_ptr<GpuJoin> gpu_join_;
  std::vector<summary::CollectiveSummary> collectives_;
  GpuFigures gpu_figures_{info_};
  summary::MarkMeter mark_meter_;
  AccessPass accesses_;
};

Status Merger::load() {
  auto session = SessionInfo::read(options_.trace_folder);
  if (!session) return tl::make_unexpected(session.error());
  session_ = *std::move(session);
  made_of_ = KeptParts::made_of(options_.trace_folder, session_.mllog, rows_per_part());
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
  cuda_ = std::make_unique<CudaMerge>(session_.run);
  return kernel_->present() ? kernel_->load(info_) : Status();
}

void Merger::read_mllog() {
  mllog_ = read_logs(*index_, session_, info_.files, rows_per_part());
  log_writes_ = std::make_unique<LogWrites>(session_.mllog, info_.files);
  info_.marks = std::move(mllog_.marks);
  info_.phases = mllog_.phases;
}

// Requires: all rows were fed, since calls that write to the MLLOG files shift the bounds of phases.
void Merger::settle_phases() {
  log_writes_->finish();
  settle(mllog_, *log_writes_);
  builder_->settle_phases(mllog_.phases);
  info_.phases = mllog_.phases;
}

// Fills the table `name`: first names of libraries, then names of marks in order of appearance.
void Merger::name_marks() {
  for (const std::string& library : index_->modules().libraries()) {
    info_.names.push_back({static_cast<int64_t>(info_.names.size()) + 1, library});
  }
  marks_ = std::make_unique<MarkTracker>(*index_, info_);
  marks_->add_log(info_.marks);
}

bool Merger::has_cupti() const { return index_->has_gpu_work() || session_.run.has_stream("gpu"); }

void Merger::prepare() {
  read_mllog();
  name_marks();
  info_.gpus = read_gpus(index_->gpu_texts());
  index_->gpu_facts().place_devices(info_, index_->strings());
  gpu_join_ = std::make_unique<GpuJoin>(*index_, marks_->names(), info_.gpus);
  builder_ = std::make_unique<summary::Builder>(
      summary::BuilderOptions{session_.start_ns, session_.run.options.alloc_min_bytes, session_.alloc_sample_bytes,
                              kernel_->sees_page_cache(), mllog_.phases, undecided(mllog_), &info_.files});
  offsets_ = std::make_unique<OffsetTracker>(index_->files(), position_losses(*index_));
  mappings_ = std::make_unique<MappingFiles>(index_->files(), info_);
  fold_ = std::make_unique<CallFold>(session_.fold_ns);
  counters_ = std::make_unique<CounterTracker>(index_->channels());
}

Status Merger::load_sums() {
  if (!session_.run.options.summary_only) return {};
  sums_ = std::make_unique<SumsFile>(*index_);
  if (auto read = sums_->read(options_.trace_folder + "/" + MLRUN_SUMS_FILE); !read) return read;
  sum_table_ = std::make_unique<SumTable>(sums_->stretches());
  sums_->feed(*builder_, *counters_, *log_writes_);
  for (const model::SumRow& sum : sums_->rows()) coverage_.add(sum);
  return {};
}

void Merger::look_ahead(const Partition& partition, size_t at) const {
  using Step = summary::Builder::Step;
  const auto prefetch = [&](size_t index, Step step) {
    if (index >= partition.order.size()) return;
    const RowRef& ref = partition.order[index];
    if (ref.kind == RowKind::kCall) builder_->prefetch(partition.calls[ref.index], step);
    if (ref.kind == RowKind::kAlloc) builder_->prefetch(partition.allocs[ref.index], step);
  };
  if (at + kRowsAhead < partition.order.size()) partition.prefetch(partition.order[at + kRowsAhead]);
  prefetch(at + kSlotsAhead, Step::kSlots);
  prefetch(at + kEntriesAhead, Step::kEntries);
  prefetch(at + kContentsAhead, Step::kContents);
}

// Passes one slice to all consumers that need the slices in order of time: first to the consumers that fill columns, add
// or remove rows, then row by row, in order of their end, to the consumers that add up.
void Merger::feed(Worker& worker) {
  Partition& partition = worker.partition;
  worker.first_call_id = totals_.calls + 1;
  offsets_->apply(partition);             // before split(), which finds the block I/O of a read by its file range
  mappings_->apply(partition);            // before split(), which finds the block I/O of msync by its file
  counters_->apply(partition);            // replaces total counts by the change since the record before
  gpu_join_->name_threads(partition);     // before marks_: marks are per thread, and CUPTI reports only a tid
  marks_->apply(partition, mark_meter_);  // adds rows; sets the marks of CUDA calls
  kernel_->split(partition);
  kernel_->find_gpu_files(partition);
  gpu_join_->apply(partition);  // after marks_: GPU work gets the mark of its CUDA call; removes nested calls
  for (size_t i = 0; i < partition.order.size(); ++i) {
    look_ahead(partition, i);
    const RowRef& ref = partition.order[i];
    switch (ref.kind) {
      case RowKind::kCall:
        coverage_.add(partition.calls[ref.index]);
        log_writes_->add(partition.calls[ref.index]);
        builder_->add(partition.calls[ref.index]);
        kernel_->add_misses(partition.calls[ref.index], *builder_);
        break;
      case RowKind::kAlloc: builder_->add(partition.allocs[ref.index]); break;
      case RowKind::kMark: gpu_figures_.add_mark(partition.marks[ref.index]); break;
      case RowKind::kGpuApi:
      case RowKind::kGpuSync:
      case RowKind::kGpuMemory: gpu_figures_.add(partition.gpu[ref.index], marks_->paths()); break;
      case RowKind::kGpuKernel:
      case RowKind::kGpuMemcpy:
      case RowKind::kGpuMemset:
      case RowKind::kGpuGraph:
        gpu_figures_.add(partition.gpu[ref.index], marks_->paths());
        gpu_figures_.add_work_between_gaps(partition.gpu[ref.index]);
        break;
      case RowKind::kCounters: builder_->add(partition.alloc_small[ref.index]); break;
    }
  }
  fold_->apply(partition, kernel_->join());  // last: removes short calls, which all other consumers see
  if (sum_table_) {                          // with --summary-only there are no event rows
    sum_table_->add(partition);
    partition.order.clear();
    return;
  }
  totals_.calls += static_cast<int64_t>(partition.calls.size() - partition.folded_calls);
  totals_.allocs += static_cast<int64_t>(partition.allocs.size());
  totals_.alloc_small += static_cast<int64_t>(partition.alloc_small.size());
}

// Writes the GPU work of observed processes as parts with numbers from `part` on.
Status Merger::merge_cuda(PartWriter& writer, size_t part) {
  if (!kernel_->present() || !cuda_->present()) return {};
  return cuda_->run(*kernel_, info_, [&](const Partition& partition) {
    for (const RowRef& ref : partition.order) gpu_figures_.add(partition.gpu[ref.index], marks_->paths());
    return writer.write(partition, part++, totals_.calls + 1);
  });
}

Status Merger::merge_rows(const StagingFolder& staging, KeptParts& parts) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < threads_; ++i) {
    workers.push_back(std::make_unique<Worker>(*index_, staging.tables(), has_gpu(), kernel_->join()));
    workers.back()->writer.set(PlacedNodes(session_.run.placement));
  }
  auto slices =
      index_->chunks().slices(rows_per_part(), [&](const Slice& slice) { return workers[0]->reader.count(slice); });
  if (!slices) return tl::make_unexpected(slices.error());
  PartWriter& first_writer = workers[0]->writer;
  if (slices->empty()) {
    const Status written = first_writer.write(Partition{}, 0, 1);
    return written ? merge_cuda(first_writer, 1) : written;
  }
  const auto finish_marks = [&](const Status& merged) {
    const Partition rest = marks_->finish(mark_meter_);
    const bool has_more = merged && !rest.marks.empty();
    const Status written = has_more ? first_writer.write(rest, slices->size(), totals_.calls + 1) : merged;
    return written ? merge_cuda(first_writer, slices->size() + 1) : written;
  };

  if (parts.count() != 0 && options_.shows_progress) {
    progress_.say(
        fmt::format("resuming an interrupted merge: {} of {} parts are written", parts.count(), slices->size()));
  }
  progress_.begin(1 - kScanShare, index_->chunks().rows());
  return finish_marks(in_order(
      slices->size(), threads_,
      [&](unsigned thread, size_t number) {
        return workers[thread]->reader.read((*slices)[number], workers[thread]->partition);
      },
      [&](unsigned thread, size_t) -> Status {
        feed(*workers[thread]);
        return {};
      },
      [&](unsigned thread, size_t number) {
        Worker& worker = *workers[thread];
        Status written;
        if (parts.has(number)) {
          worker.writer.pass(worker.partition, worker.first_call_id);
        } else {
          written = worker.writer.write(worker.partition, number, worker.first_call_id);
          if (written) parts.add(number);
        }
        progress_.advance(worker.partition.order.size());
        return written;
      }));
}

Status Merger::merge_samples(const StagingFolder& staging) {
  const auto written = write_gpu_samples(*index_, info_, staging.tables(), gpus_);
  if (!written) return tl::make_unexpected(written.error());
  totals_.gpu_samples = *written;
  if (Status host = write_host_samples(*index_, info_, staging.tables(), totals_.host_samples); !host) return host;
  const auto python = write_python_stacks(*index_, info_, staging.tables(), python_, python_lines_);
  if (!python) return tl::make_unexpected(python.error());
  totals_.python_stacks = python->rows;
  std::tie(python_damaged_rows_, python_left_out_) = std::tie(python->damaged_rows, python->left_out);
  return {};
}

// Requires: all other event tables are written.
Status Merger::blame_gaps(const StagingFolder& staging) {
  if (!has_cupti()) return {};
  const int64_t cuda_calls = gpu_join_->totals().rows[static_cast<size_t>(model::GpuKind::kApi)];
  idle::IdleOptions options{.folder = staging.path()};
  options.rows = totals_.calls + cuda_calls + kernel_->waits();
  options.calls_recorded = totals_.calls > 0;
  options.has_kernel_side = kernel_->present();
  options.sees_sleeps = kernel_->sees_sleeps();
  options.has_gpu_file_calls = kernel_->has_gpu_file_calls();
  return gpu_figures_.blame_gaps(options, info_, python_lines_, marks_->paths());
}

void Merger::note_collectives() {
  collectives_ = marks_->collectives().meter().finish();
  if (mllog_.outside != 0) {
    const auto outside = static_cast<int64_t>(mllog_.outside), kept = static_cast<int64_t>(info_.marks.size());
    info_.coverage.push_back({0, "marks and intervals of the MLLOG files", "before or after the run: left out", kept,
                              kept + outside, model::kRemark});
  }
  add_remarks(info_, marks_->coverage());
}

void Merger::complete_info() {
  settle_phases();
  symbols::symbolize(info_.stacks, session_.run.clock.start.realtime_ns.value_or(0));
  totals_.marks = marks_->rows() + static_cast<int64_t>(info_.marks.size());
  totals_.unmatched_mark_ends = static_cast<int64_t>(marks_->unmatched_ends());
  withdraw_ends(info_.processes, session_.run);
  note_exit_status(info_.processes, session_.run.wait_status);
  info_.losses =
      find_losses(*index_, session_.run, mllog_,
                  {totals_.damaged_samples(), marks_->ranges_left_out(), python_damaged_rows_, python_left_out_});
  totals_.gpu = gpu_join_->totals();
  for (size_t kind = 0; kind < model::kGpuKinds; ++kind) totals_.gpu.rows[kind] += cuda_->rows()[kind];
  std::ranges::move(gpu_join_->losses(), std::back_inserter(info_.losses));
  std::ranges::move(index_->gpu_facts().losses(index_->channels(), info_), std::back_inserter(info_.losses));
  info_.folded = fold_->finish();
  info_.left_out = find_left_out(*index_);
  info_.coverage = coverage_.finish(*index_, session_.run, info_);
  kernel_->add_gaps(info_);
  cuda_->add_gaps(info_);
  if (sum_table_) {
    info_.sums = sum_table_->finish(std::move(sums_->rows()), mllog_.phases);
    add_remarks(info_, SumTable::coverage(info_.sums, sums_->state()));
    if (auto unsaved = unsaved_loss(session_.run, sums_->state())) info_.losses.push_back(*std::move(unsaved));
  }
  note_collectives();
  const bool stacks_wanted = session_.run.options.stack_depth != 0;
  std::ranges::move(gpu_join_->coverage(has_cupti(), stacks_wanted), std::back_inserter(info_.coverage));
  add_remarks(info_, gpu_figures_.take_coverage());
  add_remarks(info_, python_coverage(session_.run, *index_));
  add_remarks(info_, gpu_sample_coverage(session_.run, info_));
  add_remarks(info_, counter_sample_coverage(session_.run));
  add_remarks(info_, accesses_.coverage(session_.run));
  std::ranges::move(index_->gpu_facts().coverage(index_->channels(), index_->strings()),
                    std::back_inserter(info_.coverage));
  info_.run = make_run_json(session_.run, *index_, info_, totals_);
  kernel_->describe(*info_.run);
  accesses_.describe(info_, *info_.run);
  if (nlohmann::json steps = gpu_figures_.describe_steps(); !steps.is_null())
    (*info_.run)["gpu_steps"] = std::move(steps);
}

Status Merger::write_tables(StagingFolder& staging, summary::Summary& summary) {
  Status done = write_small_tables(info_, staging.path());
  const findings::AnswerOptions options{.has_rows = !session_.run.options.summary_only && totals_.calls != 0};
  if (done) done = findings::answer(staging.path(), summary.run, options, summary.answer);
  if (done) done = summary::add_phase_times(staging.path(), summary.phases);
  summary.python = python_.finish(summary.processes, info_.stacks, summary.answer.driver_thread_id);
  if (done) done = summary::write_tables(summary, staging.path());
  if (done) done = complete_tables(staging.tables(), *info_.run);
  if (done) done = staging.commit();
  return done ? model::write_run(*info_.run, options_.trace_folder) : done;
}

Result<summary::Summary> Merger::finish(StagingFolder& staging) {
  Status written = marks_->collectives().finish();
  if (written && kernel_->present())
    written = kernel_->write(info_, staging.tables(), *builder_, index_->events_from_ns());
  if (written) written = blame_gaps(staging);
  if (written) written = accesses_.run(*index_, session_.run, info_, staging.path());
  if (written) written = gpu_figures_.find_sites(info_, staging.path());
  if (!written) return tl::make_unexpected(written.error());
  complete_info();
  summary::Summary summary = builder_->finish(info_);
  summary.gpus = gpus_.finish(info_.gpus);
  summary.machine = std::move(totals_.host_samples.counters.machine);
  summary.marks = mark_meter_.finish(info_.names);
  summary.mark_records = mark_meter_.records();
  summary.collectives = std::move(collectives_);
  gpu_figures_.finish(info_, marks_->paths(), summary);
  summary::complete(info_, summary);
  if (Status all = write_tables(staging, summary); !all) return tl::make_unexpected(all.error());
  return summary;
}

Result<summary::Summary> Merger::run() {
  if (auto loaded = load(); !loaded) return tl::make_unexpected(loaded.error());
  prepare();
  if (auto loaded = load_sums(); !loaded) return tl::make_unexpected(loaded.error());
  auto staging = StagingFolder::create(options_.trace_folder);
  if (!staging) return tl::make_unexpected(staging.error());
  KeptParts parts(staging->path(), PartWriter::tables(has_gpu()));
  // Traces with GPU work are merged from scratch: name_id of a kernel depends on the order in which rows are read.
  const std::string made_of = has_gpu() ? std::string() : KeptParts::made_of(made_of_, info_);
  if (auto opened = parts.open(made_of); !opened) return tl::make_unexpected(opened.error());
  marks_->collectives().write_to(staging->tables());
  if (auto merged = merge_rows(*staging, parts); !merged) return tl::make_unexpected(merged.error());
  if (auto merged = merge_samples(*staging); !merged) return tl::make_unexpected(merged.error());
  return finish(*staging);
}

}  // namespace

Result<summary::Summary> merge(const MergeOptions& options) {
  const util::SpillFolder spill(options.trace_folder);
  return Merger(options).run();
}

}  // namespace mlrun::trace
