// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/moments.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <unordered_map>

#include <arrow/api.h>
#include <fmt/format.h>

#include "runner/parquet/batch_columns.h"
#include "runner/parquet/table_reader.h"

namespace mlrun::nodes {

namespace {

using Key = std::pair<std::string, std::string>;

// Of each process; numbers of series are few.
Moment& moment_of(Moments& moments, const Key& key, int32_t proc_id, int64_t number) {
  std::vector<MomentSeries>& list = moments[key];
  auto found = std::find_if(list.begin(), list.end(), [&](const MomentSeries& one) { return one.proc_id == proc_id; });
  if (found == list.end()) found = list.insert(list.end(), {proc_id, {}});
  return found->moments[number];
}

Status for_each_batch(const std::string& folder, const char* table, trace::TableQuery query,
                      const std::function<void(const arrow::RecordBatch&)>& take) {
  auto reader = trace::TableReader::open(folder, table, std::move(query));
  if (!reader) return tl::make_unexpected(reader.error());
  for (;;) {
    auto batch = reader->next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) return {};
    take(**batch);
  }
}

struct Collective {
  int64_t start_ns = 0, end_ns = 0;  // of the call
  Key key;
  int32_t proc_id = 0;
  int64_t sequence = 0;
};

// Kernels of NCCL by the call that launched them, which lies in the call of the collective, on its thread.
Status add_kernel_ends(const NodeTrace& node, std::map<int64_t, std::vector<Collective>>& by_thread, Moments& moments) {
  for (const char* table : {"name", "gpu_kernel", "gpu_api"}) {
    if (!trace::has_table(node.folder + "/tables", table)) return {};
  }
  std::set<int64_t> names;
  const Status named = for_each_batch(node.folder, "name", {}, [&](const arrow::RecordBatch& batch) {
    const trace::Numbers id(batch, "name_id");
    const trace::Texts name(batch, "name");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (name[i].starts_with("nccl") && name[i].find("Kernel") != std::string_view::npos) names.insert(id[i]);
    }
  });
  if (!named) return named;
  std::map<std::pair<int64_t, int64_t>, int64_t> ends;  // process, correlation
  const trace::TableQuery of_kernels{.columns = {"ts", "dur", "proc_id", "correlation_id", "name_id"}};
  const Status kernels = for_each_batch(node.folder, "gpu_kernel", of_kernels, [&](const arrow::RecordBatch& batch) {
    const trace::Numbers ts(batch, "ts"), dur(batch, "dur"), proc(batch, "proc_id"), id(batch, "correlation_id"),
        name(batch, "name_id");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (names.contains(name[i])) ends[{proc[i], id[i]}] = ts[i] + dur[i];
    }
  });
  if (!kernels || ends.empty()) return kernels;
  const trace::TableQuery of_calls{.columns = {"ts", "proc_id", "thread_id", "correlation_id"}};
  return for_each_batch(node.folder, "gpu_api", of_calls, [&](const arrow::RecordBatch& batch) {
    const trace::Numbers ts(batch, "ts"), proc(batch, "proc_id"), thread(batch, "thread_id"),
        id(batch, "correlation_id");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      const auto end = ends.find({proc[i], id[i]});
      const auto calls = end == ends.end() ? by_thread.end() : by_thread.find(thread[i]);
      if (calls == by_thread.end()) continue;
      const auto after = std::upper_bound(calls->second.begin(), calls->second.end(), ts[i],
                                          [](int64_t at, const Collective& one) { return at < one.start_ns; });
      if (after == calls->second.begin() || std::prev(after)->end_ns < ts[i]) continue;
      const Collective& call = *std::prev(after);
      moment_of(moments, call.key, call.proc_id, call.sequence).end_ns = end->second;
    }
  });
}

}  // namespace

Result<Moments> collectives_of(const NodeTrace& node) {
  Moments moments;
  if (!trace::has_table(node.folder + "/tables", "collective")) return moments;
  std::map<int64_t, std::vector<Collective>> by_thread;
  const Status read = for_each_batch(node.folder, "collective", {}, [&](const arrow::RecordBatch& batch) {
    const trace::Numbers ts(batch, "ts"), dur(batch, "dur"), proc(batch, "proc_id"), thread(batch, "thread_id"),
        sequence(batch, "sequence");
    const trace::Texts operation(batch, "operation"), communicator(batch, "communicator");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      static const std::set<std::string_view> kOfAll = {"AllReduce", "AllGather", "ReduceScatter", "AlltoAll"};
      if (sequence.is_null(i) || communicator[i].empty() || !kOfAll.contains(operation[i])) continue;
      Collective call{ts[i],
                      ts[i] + dur[i],
                      {std::string(communicator[i]), std::string(operation[i])},
                      static_cast<int32_t>(proc[i]),
                      sequence[i]};
      moment_of(moments, call.key, call.proc_id, call.sequence) = {ts[i], 0};
      by_thread[thread[i]].push_back(std::move(call));
    }
  });
  if (!read) return tl::make_unexpected(read.error());
  if (moments.empty()) return moments;
  for (auto& [thread, calls] : by_thread) {
    std::sort(calls.begin(), calls.end(),
              [](const Collective& a, const Collective& b) { return a.start_ns < b.start_ns; });
  }
  if (Status added = add_kernel_ends(node, by_thread, moments); !added) return tl::make_unexpected(added.error());
  return moments;
}

Result<Moments> marks_of(const NodeTrace& node, const std::string& name) {
  const auto none = [&] {
    return fail(fmt::format("{} has no range \"{}\" (mlrun show {} mark)", node.folder, name, node.folder));
  };
  for (const char* table : {"name", "mark"}) {
    if (!trace::has_table(node.folder + "/tables", table)) return none();
  }
  std::set<int64_t> names;
  const Status named = for_each_batch(node.folder, "name", {}, [&](const arrow::RecordBatch& batch) {
    const trace::Numbers id(batch, "name_id");
    const trace::Texts text(batch, "name");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (text[i] == name) names.insert(id[i]);
    }
  });
  if (!named) return tl::make_unexpected(named.error());
  std::vector<std::pair<int32_t, Moment>> found;
  const Status read = for_each_batch(node.folder, "mark", {}, [&](const arrow::RecordBatch& batch) {
    const trace::Numbers ts(batch, "ts"), dur(batch, "dur"), proc(batch, "proc_id"), id(batch, "name_id");
    const auto open = batch.GetColumnByName("open");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (dur.is_null(i) || !names.contains(id[i])) continue;
      // A rank that was killed in its barrier never left it: the others may have begun it later.
      const bool is_open = open && static_cast<const arrow::BooleanArray&>(*open).Value(i);
      found.push_back({static_cast<int32_t>(proc[i]), {ts[i], is_open ? 0 : ts[i] + dur[i]}});
    }
  });
  if (!read) return tl::make_unexpected(read.error());
  if (found.empty()) return none();
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.second.begin_ns < b.second.begin_ns; });
  Moments moments;
  std::map<int32_t, int64_t> next;
  for (const auto& [proc_id, moment] : found) moment_of(moments, {name, "mark"}, proc_id, next[proc_id]++) = moment;
  return moments;
}

size_t add_bounds(const Moments& first, const Moments& second, int64_t readings_error_ns, OffsetBounds& bounds) {
  size_t count = 0;
  for (const auto& [key, series] : first) {
    const auto others = second.find(key);
    if (others == second.end()) continue;
    for (const MomentSeries& a : series) {
      for (const MomentSeries& b : others->second) {
        for (const auto& [number, of_a] : a.moments) {
          const auto same = b.moments.find(number);
          if (same == b.moments.end()) continue;
          const Moment& of_b = same->second;
          if (of_b.end_ns != 0) bounds.upper.push_back({of_b.end_ns, of_b.end_ns - of_a.begin_ns + readings_error_ns});
          if (of_a.end_ns != 0)
            bounds.lower.push_back({of_b.begin_ns, of_b.begin_ns - of_a.end_ns - readings_error_ns});
          count += of_a.end_ns != 0 || of_b.end_ns != 0 ? 1 : 0;
        }
      }
    }
  }
  return count;
}

}  // namespace mlrun::nodes
