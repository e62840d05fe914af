// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/timeline/load.h"

#include <algorithm>
#include <cerrno>
#include <unordered_set>

#include "runner/blame/timeline/call_loader.h"
#include "runner/blame/timeline/loop_load.h"
#include "runner/model/file_table.h"
#include "runner/parquet/table_batches.h"

namespace mlrun::blame {

namespace {

using tables::Numbers;
using tables::Texts;

template <typename Row>
Row& at(std::vector<Row>& rows, int64_t id) {
  if (static_cast<size_t>(id) >= rows.size()) rows.resize(static_cast<size_t>(id) + 1);
  return rows[static_cast<size_t>(id)];
}

Status load_processes(const std::string& folder, Timeline& timeline) {
  std::unordered_set<int32_t> ranks;
  int64_t world = 0;
  Status loaded = tables::for_each_batch_if_any(
      folder, "process",
      {.columns = {"proc_id", "pid", "parent_proc_id", "rank", "world_size", "role", "command", "forked", "first",
                   "last"}},
      [&](const arrow::RecordBatch& batch) {
        const Numbers id(batch, "proc_id"), pid(batch, "pid"), parent(batch, "parent_proc_id"),
            size(batch, "world_size");
        const Numbers rank(batch, "rank"), first(batch, "first"), last(batch, "last");
        const Texts role(batch, "role"), command(batch, "command");
        const auto forked = std::static_pointer_cast<arrow::BooleanArray>(batch.GetColumnByName("forked"));
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          Process& process = at(timeline.processes, id[row]);
          process.proc_id = static_cast<int32_t>(id[row]);
          process.pid = static_cast<int32_t>(pid[row]);
          process.parent = static_cast<int32_t>(parent[row]);
          process.rank = rank.is_null(row) ? -1 : static_cast<int32_t>(rank[row]);
          process.role = role[row];
          process.command = command[row];
          process.forked = !forked->IsNull(row) && forked->Value(row);
          process.first_ns = first[row];
          process.last_ns = last[row];
          if (process.rank >= 0) ranks.insert(process.rank);
          world = std::max(world, size[row]);
        }
      });
  timeline.has_ranks_elsewhere = !ranks.empty() && static_cast<int64_t>(ranks.size()) < world;
  return loaded;
}

Status load_threads(const std::string& folder, Timeline& timeline) {
  at(timeline.processes, 0);
  at(timeline.threads, 0);
  Status loaded = tables::for_each_batch_if_any(
      folder, "thread", {.columns = {"thread_id", "proc_id", "tid", "first", "last", "comm"}},
      [&](const arrow::RecordBatch& batch) {
        const Numbers id(batch, "thread_id"), proc(batch, "proc_id"), tid(batch, "tid"), first(batch, "first");
        const Numbers last(batch, "last");
        const Texts comm(batch, "comm");
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          Thread& thread = at(timeline.threads, id[row]);
          thread.thread_id = static_cast<int32_t>(id[row]);
          thread.proc_id = static_cast<int32_t>(proc[row]);
          thread.tid = static_cast<int32_t>(tid[row]);
          thread.first_ns = first[row];
          thread.last_ns = last[row];
          thread.comm = comm[row];
        }
      });
  for (const Thread& thread : timeline.threads) {
    if (thread.thread_id == 0) continue;
    timeline.threads_by_tid.add(thread.tid, {thread.first_ns, thread.last_ns, thread.proc_id, thread.thread_id});
    Process& process = at(timeline.processes, thread.proc_id);
    process.threads.push_back(thread.thread_id);
    // A process that called exec has another thread row for its main thread: the last row counts.
    const bool leads = thread.tid == process.pid;
    if (process.main == 0 || leads) process.main = thread.thread_id;
  }
  return loaded;
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return text.ends_with(end); });
}

// Whether the path is a Python module, a shared library, or a folder with these.
bool is_module(std::string_view path) {
  constexpr auto kNone = std::string_view::npos;
  return ends_with_any(path, {".py", ".pyc", ".so", ".pyd", ".pth", "__pycache__", "pyvenv.cfg"}) ||
         path.find("site-packages") != kNone || path.find("dist-packages") != kNone || path.find(".so.") != kNone ||
         path.find("/lib/python3") != kNone;
}

Status load_files(const std::string& folder, Timeline& timeline, std::vector<uint8_t>& modules) {
  return tables::for_each_batch_if_any(
      folder, "file", {.columns = {"file_id", "path", "kind"}}, [&](const arrow::RecordBatch& batch) {
        const Numbers id(batch, "file_id");
        const Texts path(batch, "path"), kind(batch, "kind");
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          at(timeline.file_kinds, id[row]) = static_cast<uint8_t>(model::FileTable::kind_of(kind[row]));
          at(modules, id[row]) = is_module(path[row]) ? 1 : 0;
        }
      });
}

Status load_samples(const std::string& folder, Timeline& timeline) {
  std::unordered_set<int32_t> wanted;
  const std::vector<std::string> columns = {"ts", "dur", "thread_id", "samples", "running", "stack_id"};
  Status loaded =
      tables::for_each_batch_if_any(folder, "python_stack", {.columns = columns}, [&](const arrow::RecordBatch& batch) {
        const Numbers ts(batch, "ts"), dur(batch, "dur"), id(batch, "thread_id"), samples(batch, "samples");
        const Numbers running(batch, "running"), stack(batch, "stack_id");
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          const auto number = static_cast<size_t>(id[row]);
          if (number == 0 || number >= timeline.threads.size()) continue;
          const int8_t runs = running.is_null(row) ? int8_t{-1} : static_cast<int8_t>(running[row]);
          timeline.threads[number].samples.push_back({ts[row], ts[row] + dur[row], static_cast<int32_t>(samples[row]),
                                                      static_cast<int32_t>(stack[row]), runs, false});
          wanted.insert(static_cast<int32_t>(stack[row]));
        }
      });
  if (!loaded || wanted.empty()) return loaded;
  timeline.has_samples = true;
  for (Thread& thread : timeline.threads) {
    std::sort(thread.samples.begin(), thread.samples.end(),
              [](const StackSample& a, const StackSample& b) { return a.start_ns < b.start_ns; });
  }
  std::unordered_map<int32_t, Frame> frames;
  std::unordered_map<int32_t, std::vector<std::pair<int32_t, int32_t>>> of_stack;  // depth, frame_id
  loaded = tables::for_each_batch_if_any(
      folder, "stack", {.columns = {"stack_id", "depth", "frame_id"}}, [&](const arrow::RecordBatch& batch) {
        const Numbers stack(batch, "stack_id"), depth(batch, "depth"), frame(batch, "frame_id");
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          const auto id = static_cast<int32_t>(stack[row]);
          if (!wanted.contains(id)) continue;
          of_stack[id].emplace_back(static_cast<int32_t>(depth[row]), static_cast<int32_t>(frame[row]));
          frames[static_cast<int32_t>(frame[row])];
        }
      });
  if (!loaded) return loaded;
  loaded = tables::for_each_batch_if_any(
      folder, "frame", {.columns = {"frame_id", "function", "source", "line"}}, [&](const arrow::RecordBatch& batch) {
        const Numbers id(batch, "frame_id"), line(batch, "line");
        const Texts function(batch, "function"), source(batch, "source");
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          const auto found = frames.find(static_cast<int32_t>(id[row]));
          if (found == frames.end()) continue;
          found->second = {std::string(function[row]), std::string(source[row]), static_cast<int32_t>(line[row])};
        }
      });
  for (auto& [id, list] : of_stack) {
    std::sort(list.begin(), list.end());
    for (const auto& [depth, frame] : list) timeline.stacks[id].push_back(frames[frame]);
  }
  return loaded;
}

Status load_sleeps(const std::string& folder, Timeline& timeline) {
  const std::vector<std::string> columns = {"ts", "dur", "thread_id", "runq_ns", "waker_tid", "in_iowait", "state"};
  Status loaded =
      tables::for_each_batch_if_any(folder, "wait", {.columns = columns}, [&](const arrow::RecordBatch& batch) {
        const Numbers ts(batch, "ts"), dur(batch, "dur"), id(batch, "thread_id"), runq(batch, "runq_ns");
        const Numbers waker(batch, "waker_tid");
        const Texts state(batch, "state");
        const auto iowait = std::static_pointer_cast<arrow::BooleanArray>(batch.GetColumnByName("in_iowait"));
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          const auto number = static_cast<size_t>(id[row]);
          if (number == 0 || number >= timeline.threads.size()) continue;
          const Ns end_ns = ts[row] + dur[row];
          const bool preempted = state[row] == "running";
          const Ns wake_ns = preempted ? ts[row] : runq.is_null(row) ? end_ns : end_ns - runq[row];
          const bool for_device = state[row] == "uninterruptible" || (!iowait->IsNull(row) && iowait->Value(row));
          timeline.threads[number].sleeps.push_back(
              {ts[row], wake_ns, end_ns, static_cast<int32_t>(waker[row]), for_device, preempted});
          timeline.has_kernel_side = true;
        }
      });
  for (Thread& thread : timeline.threads) {
    std::sort(thread.sleeps.begin(), thread.sleeps.end(),
              [](const Sleep& a, const Sleep& b) { return a.start_ns < b.start_ns; });
  }
  return loaded;
}

Status load_usage(const std::string& folder, Timeline& timeline) {
  const std::vector<std::string> columns = {"ts",       "dur",    "thread_id", "utime_ns",
                                            "stime_ns", "run_ns", "runq_ns",   "majflt"};
  Status loaded = tables::for_each_batch_if_any(
      folder, "sample_thread", {.columns = columns}, [&](const arrow::RecordBatch& batch) {
        const Numbers ts(batch, "ts"), dur(batch, "dur"), id(batch, "thread_id"), user(batch, "utime_ns"),
            system(batch, "stime_ns");
        const Numbers run(batch, "run_ns"), queued(batch, "runq_ns"), faults(batch, "majflt");
        for (int64_t row = 0; row < batch.num_rows(); ++row) {
          const auto number = static_cast<size_t>(id[row]);
          if (number == 0 || number >= timeline.threads.size() || run.is_null(row)) continue;
          Usage usage;
          usage.start_ns = ts[row];
          usage.end_ns = ts[row] + dur[row];
          usage.run_ns = run[row];
          usage.queued_ns = queued[row];
          usage.user_ns = user[row];
          usage.system_ns = system[row];
          usage.major_faults = faults[row];
          timeline.threads[number].usage.push_back(usage);
          timeline.has_usage = true;
        }
      });
  for (Thread& thread : timeline.threads) {
    std::sort(thread.usage.begin(), thread.usage.end(),
              [](const Usage& a, const Usage& b) { return a.start_ns < b.start_ns; });
  }
  return loaded;
}

// The driver's rows are as short as the time between two samples, but the kernel counts user and system time in ticks of 10 ms. Rows are therefore
// joined up to a second.
void join_usage(std::vector<Usage>& rows) {
  constexpr Ns kLongNs = 1'000'000'000;
  std::vector<Usage> joined;
  for (const Usage& row : rows) {
    if (joined.empty() || row.end_ns - joined.back().start_ns > kLongNs) {
      joined.push_back(row);
      continue;
    }
    Usage& last = joined.back();
    last.end_ns = row.end_ns;
    last.run_ns += row.run_ns;
    last.queued_ns += row.queued_ns;
    last.user_ns += row.user_ns;
    last.system_ns += row.system_ns;
    last.major_faults += row.major_faults;
  }
  rows = std::move(joined);
}

// Derives from the scheduler's counts what a thread did outside of recorded waits and calls. Sleep there is page faults that read from a device
// if at least 5 were counted, else a mutex, barrier or the like. Kernel time there belongs to these faults, else it is page faults without a device,
// or freeing of memory.
void settle_usage(Thread& thread) {
  constexpr int64_t kFaultsMin = 5;
  constexpr double kKernelMin = 0.2;
  constexpr double kAsleepMin = 0.15;  // a smaller share may be time that the hypervisor took
  join_usage(thread.usage);
  for (Usage& usage : thread.usage) {
    double waits_ns = 0;
    for (size_t i = thread.first_wait(usage.start_ns);
         i < thread.waits.size() && thread.waits[i].start_ns < usage.end_ns; ++i) {
      const Wait& wait = thread.waits[i];
      waits_ns += static_cast<double>(std::min(wait.end_ns, usage.end_ns) - std::max(wait.start_ns, usage.start_ns));
    }
    const auto whole_ns = static_cast<double>(usage.end_ns - usage.start_ns);
    const double calls_ns = std::min(thread.calls.sums(usage.start_ns, usage.end_ns).total_ns(), whole_ns - waits_ns);
    const double rest_ns = whole_ns - waits_ns - calls_ns;
    const double asleep_ns = whole_ns - waits_ns - static_cast<double>(usage.run_ns + usage.queued_ns);
    if (calls_ns > 0) usage.calls_asleep = std::clamp(asleep_ns / calls_ns, 0.0, 1.0);
    if (rest_ns < 1) continue;
    const auto run_ns = static_cast<double>(usage.run_ns), queued_ns = static_cast<double>(usage.queued_ns);
    usage.queued = std::clamp(queued_ns / (rest_ns + calls_ns), 0.0, 1.0);
    const double unseen = std::clamp((asleep_ns - calls_ns) / rest_ns, 0.0, 1.0 - usage.queued);
    if (usage.major_faults >= kFaultsMin) {
      usage.faulting = unseen;
    } else if (unseen >= kAsleepMin) {
      usage.asleep = unseen;
    }
    const auto ticked_ns = static_cast<double>(usage.user_ns + usage.system_ns);
    if (ticked_ns <= 0) continue;
    const double system_ns = run_ns * static_cast<double>(usage.system_ns) / ticked_ns - calls_ns;
    if (system_ns <= kKernelMin * run_ns) continue;
    // A page fault that reads from a device uses the processor, too.
    double& part = usage.major_faults >= kFaultsMin ? usage.faulting : usage.in_kernel;
    part += std::clamp(system_ns / rest_ns, 0.0, 1.0 - usage.queued - usage.faulting - usage.asleep);
  }
}

// Finds the condition at which threads wait for the lock of a Python interpreter. Such waits time out after 5 ms and are repeated; they are made by
// several threads, or often by one.
void find_python_locks(Timeline& timeline) {
  constexpr Ns kGivesUpMinNs = 4'900'000, kGivesUpMaxNs = 9'000'000;
  struct Use {
    int64_t given_up = 0, timed = 0;
    std::unordered_set<int32_t> threads;
  };
  for (Process& process : timeline.processes) {
    std::unordered_map<int64_t, Use> uses;
    for (const int32_t thread : process.threads) {
      for (const Wait& wait : timeline.thread(thread).waits) {
        if (wait.kind != WaitKind::kLock || !wait.condition) continue;
        Use& use = uses[wait.argument];
        use.timed += wait.timed ? 1 : 0;
        const bool gave_up = wait.err == ETIMEDOUT && wait.dur_ns() > kGivesUpMinNs && wait.dur_ns() < kGivesUpMaxNs;
        if (gave_up) ++use.given_up;
        use.threads.insert(thread);
      }
    }
    std::pair<int64_t, size_t> most{};
    for (const auto& [address, use] : uses) {
      if (use.given_up == 0 && (use.threads.size() < 2 || use.timed == 0)) continue;
      const std::pair<int64_t, size_t> rank{use.given_up, use.threads.size()};
      if (rank > most) {
        most = rank;
        process.python_lock = address;
      }
    }
  }
}

// Marks sleeps of a loop that polls. Waits for Python's lock between two sleeps do not end the loop.
void mark_polls(const Timeline& timeline, Thread& thread) {
  constexpr Ns kLongNs = 50'000'000;
  constexpr size_t kLeast = 3;
  std::vector<Wait*> row;
  Ns end_ns = 0;
  const auto end_row = [&] {
    for (Wait* wait : row) wait->polls = row.size() >= kLeast;
    row.clear();
  };
  for (Wait& wait : thread.waits) {
    if (wait.start_ns - end_ns >= kPollsApartNs) end_row();
    end_ns = wait.end_ns;
    if (wait.asks() || timeline.is_python_lock(thread.proc_id, wait)) continue;
    if (wait.kind != WaitKind::kSleep || wait.dur_ns() >= kLongNs) {
      end_row();
    } else {
      row.push_back(&wait);
    }
  }
  end_row();
}

}  // namespace

Result<Timeline> load(const std::string& folder, Ns start_ns, Ns end_ns) {
  Timeline timeline;
  std::vector<uint8_t> modules;
  if (Status loaded = load_processes(folder, timeline); !loaded) return tl::make_unexpected(loaded.error());
  if (Status loaded = load_threads(folder, timeline); !loaded) return tl::make_unexpected(loaded.error());
  if (Status loaded = load_files(folder, timeline, modules); !loaded) return tl::make_unexpected(loaded.error());
  if (Status loaded = load_samples(folder, timeline); !loaded) return tl::make_unexpected(loaded.error());
  if (Status loaded = load_loops(folder, timeline); !loaded) return tl::make_unexpected(loaded.error());
  if (Status loaded = load_sleeps(folder, timeline); !loaded) return tl::make_unexpected(loaded.error());
  if (Status loaded = load_usage(folder, timeline); !loaded) return tl::make_unexpected(loaded.error());
  Ns first_ns = INT64_MAX, last_ns = 0;
  for (const Process& process : timeline.processes) {
    if (process.proc_id == 0) continue;
    first_ns = std::min(first_ns, process.first_ns);
    last_ns = std::max(last_ns, process.last_ns);
  }
  timeline.start_ns = start_ns != 0 ? start_ns : first_ns;
  timeline.end_ns = end_ns != 0 ? end_ns : last_ns;
  if (Status loaded = load_calls(folder, modules, timeline); !loaded) return tl::make_unexpected(loaded.error());
  find_python_locks(timeline);
  for (Thread& thread : timeline.threads) mark_polls(timeline, thread);
  for (Thread& thread : timeline.threads) settle_usage(thread);
  return timeline;
}

Result<std::unordered_map<int64_t, std::string>> read_paths(const std::string& folder,
                                                            const std::vector<int64_t>& file_ids) {
  std::unordered_map<int64_t, std::string> paths;
  for (const int64_t id : file_ids) paths[id];
  Status read = tables::for_each_batch_if_any(folder, "file", {.columns = {"file_id", "path"}},
                                              [&](const arrow::RecordBatch& batch) {
                                                const Numbers id(batch, "file_id");
                                                const Texts path(batch, "path");
                                                for (int64_t row = 0; row < batch.num_rows(); ++row) {
                                                  const auto found = paths.find(id[row]);
                                                  if (found != paths.end()) found->second = path[row];
                                                }
                                              });
  if (!read) return tl::make_unexpected(read.error());
  return paths;
}

}  // namespace mlrun::blame
