// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

#include "runner/events/session.h"
#include "runner/summary/builder.h"
#include "runner/summary/tables.h"
#include "runner/trace/counter_tracker.h"
#include "runner/trace/coverage.h"
#include "runner/trace/event_tables.h"
#include "runner/trace/in_order.h"
#include "runner/trace/losses.h"
#include "runner/trace/mllog.h"
#include "runner/trace/offset_tracker.h"
#include "runner/trace/partition.h"
#include "runner/trace/progress.h"
#include "runner/trace/run_json.h"
#include "runner/trace/session_info.h"
#include "runner/trace/small_tables.h"
#include "runner/trace/staging_folder.h"
#include "runner/util/file_io.h"

namespace mlrun::trace {

namespace {

constexpr unsigned kThreadsMax = 8;          // more would wait for the part that is done in order
constexpr uint64_t kRowsInMemory = 800'000;  // of all threads; about 200 bytes each while they are sorted and encoded
constexpr size_t kRowsAhead = 8;             // rows in order of time lie anywhere in memory
constexpr double kScanShare = 0.15;          // of the work, for the progress line

unsigned thread_count(unsigned wanted) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return wanted != 0 ? wanted : std::min(cores, kThreadsMax);
}

// What one thread works with.
struct Worker {
  Worker(SpoolIndex& index, const std::string& tables) : reader(index), writer(tables) {}
  PartitionReader reader;
  PartWriter writer;
  Partition partition;
  int64_t first_call_id = 1;
};

class Merger {
 public:
  explicit Merger(const MergeOptions& options)
      : options_(options), threads_(thread_count(options.threads)), progress_(options.shows_progress) {}

  Result<summary::Summary> run();

 private:
  Status load();
  void read_mllog();
  void prepare();
  Status merge_rows(const StagingFolder& staging);
  void feed(Worker& worker);
  void complete_info();
  Result<summary::Summary> finish(StagingFolder& staging);

  const MergeOptions& options_;
  unsigned threads_;
  Progress progress_;
  SessionInfo session_;
  model::TraceInfo info_;
  std::unique_ptr<SpoolIndex> index_;
  Mllog mllog_;
  std::unique_ptr<summary::Builder> builder_;
  std::unique_ptr<OffsetTracker> offsets_;
  std::unique_ptr<CounterTracker> counters_;
  CoverageMeter coverage_;
  RowTotals totals_;
};

Status Merger::load() {
  auto session = SessionInfo::read(options_.trace_folder);
  if (!session) return tl::make_unexpected(session.error());
  session_ = *std::move(session);
  const SpoolOptions spool{options_.trace_folder + "/" + MLRUN_SPOOL_FILE, session_.clock_kind, session_.anchors,
                           threads_};
  progress_.begin(kScanShare, 0);
  auto index = SpoolIndex::load(spool, info_, [&](size_t done, size_t all) { progress_.reached(done, all); });
  if (!index) return tl::make_unexpected(index.error());
  index_ = *std::move(index);
  return {};
}

void Merger::read_mllog() {
  MllogReader reader(index_->clock());
  for (const std::string& path : session_.mllog) reader.read_file(path);
  mllog_ = reader.finish(session_.end_ns != 0 ? session_.end_ns : index_->clock().last_ns());
  info_.marks = std::move(mllog_.marks);
  info_.phases = mllog_.phases;
}

void Merger::prepare() {
  read_mllog();
  builder_ = std::make_unique<summary::Builder>(
      summary::BuilderOptions{session_.start_ns, session_.alloc_min_bytes, mllog_.phases});
  offsets_ = std::make_unique<OffsetTracker>(index_->files(), position_losses(*index_));
  counters_ = std::make_unique<CounterTracker>(index_->channels());
}

// One partition's rows in order of end time, for everything that needs to see them all pass by.
void Merger::feed(Worker& worker) {
  Partition& partition = worker.partition;
  worker.first_call_id = totals_.calls + 1;
  offsets_->apply(partition);
  counters_->apply(partition);
  for (size_t i = 0; i < partition.order.size(); ++i) {
    const RowRef& ref = partition.order[i];
    if (i + kRowsAhead < partition.order.size()) partition.prefetch(partition.order[i + kRowsAhead]);
    switch (ref.kind) {
      case RowKind::kCall:
        coverage_.add(partition.calls[ref.index]);
        builder_->add(partition.calls[ref.index]);
        break;
      case RowKind::kAlloc: builder_->add(partition.allocs[ref.index]); break;
      case RowKind::kCounters: builder_->add(partition.alloc_small[ref.index]); break;
    }
  }
  totals_.calls += static_cast<int64_t>(partition.calls.size());
  totals_.allocs += static_cast<int64_t>(partition.allocs.size());
  totals_.alloc_small += static_cast<int64_t>(partition.alloc_small.size());
}

Status Merger::merge_rows(const StagingFolder& staging) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < threads_; ++i) workers.push_back(std::make_unique<Worker>(*index_, staging.tables()));
  auto slices = index_->chunks().slices(kRowsInMemory / threads_,
                                        [&](const Slice& slice) { return workers[0]->reader.count(slice); });
  if (!slices) return tl::make_unexpected(slices.error());
  if (slices->empty()) return workers[0]->writer.write(Partition{}, 0, 1);

  progress_.begin(1 - kScanShare, index_->chunks().rows());
  return in_order(
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
        auto written = worker.writer.write(worker.partition, number, worker.first_call_id);
        progress_.advance(worker.partition.order.size());
        return written;
      });
}

// The command is the process that came first and has no parent in the trace.
void note_exit_status(std::vector<model::ProcessRow>& processes, int64_t wait_status) {
  model::ProcessRow* command = nullptr;
  for (model::ProcessRow& process : processes) {
    if (process.parent_proc_id == 0 && (!command || process.first_ns < command->first_ns)) command = &process;
  }
  if (command) command->exit_status = wait_status;
}

void Merger::complete_info() {
  const auto add_name = [&](const std::string& text) {
    info_.names.push_back({static_cast<int64_t>(info_.names.size()) + 1, text});
  };
  for (const std::string& library : index_->modules().libraries()) add_name(library);
  std::unordered_set<std::string> marks;
  for (const model::MarkRow& mark : info_.marks) {
    if (marks.insert(mark.name).second) add_name(mark.name);
  }
  note_exit_status(info_.processes, session_.wait_status);
  info_.losses = find_losses(*index_, session_, mllog_);
  info_.coverage = coverage_.finish(*index_, session_, info_);
  info_.run = make_run_json(session_, *index_, info_, totals_);
}

Result<summary::Summary> Merger::finish(StagingFolder& staging) {
  complete_info();
  summary::Summary summary = builder_->finish(info_);
  summary::complete(info_, summary);
  if (auto written = write_small_tables(info_, staging.path()); !written) return tl::make_unexpected(written.error());
  if (auto written = summary::write_tables(summary, staging.path()); !written) {
    return tl::make_unexpected(written.error());
  }
  if (auto committed = staging.commit(); !committed) return tl::make_unexpected(committed.error());
  const std::string text = info_.run.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  constexpr mode_t kMode = 0644;
  if (auto written = util::write_atomically(options_.trace_folder + "/run.json", text, kMode); !written) {
    return tl::make_unexpected(written.error());
  }
  return summary;
}

Result<summary::Summary> Merger::run() {
  if (auto loaded = load(); !loaded) return tl::make_unexpected(loaded.error());
  prepare();
  auto staging = StagingFolder::create(options_.trace_folder);
  if (!staging) return tl::make_unexpected(staging.error());
  if (auto merged = merge_rows(*staging); !merged) return tl::make_unexpected(merged.error());
  return finish(*staging);
}

}  // namespace

Result<summary::Summary> merge(const MergeOptions& options) { return Merger(options).run(); }

}  // namespace mlrun::trace
