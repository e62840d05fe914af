// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/moments.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "runner/nodes/kernel_ends.h"
#include "runner/nodes/row_batches.h"

namespace mlrun::nodes {

namespace {

struct Mark {
  int64_t begin_ns = 0, end_ns = 0;
  int32_t proc_id = 0;
  auto operator<=>(const Mark& other) const {
    return std::tie(proc_id, begin_ns) <=> std::tie(other.proc_id, other.begin_ns);
  }
};
using Marks = util::SpilledSort<Mark>;

Status read_marks(const NodeTrace& node, const std::string& name, Marks& marks) {
  std::set<int64_t> names;
  Status named = for_each_batch_unless_stopped(node.folder, "name", {}, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers id(batch, "name_id");
    const tables::Texts text(batch, "name");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (text[i] == name) names.insert(id[i]);
    }
  });
  if (!named) return named;
  return for_each_batch_unless_stopped(node.folder, "mark", {}, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers ts(batch, "ts"), dur(batch, "dur"), proc(batch, "proc_id"), id(batch, "name_id");
    const auto open = batch.GetColumnByName("open");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (dur.is_null(i) || !names.contains(id[i])) continue;
      // A rank that was killed in its barrier never left it: the others may have begun it later.
      const bool is_open = open && static_cast<const arrow::BooleanArray&>(*open).Value(i);
      marks.add({ts[i], is_open ? 0 : ts[i] + dur[i], static_cast<int32_t>(proc[i])});
    }
  });
}

}  // namespace

uint32_t Moments::number_of(const Key& key) {
  const auto [at, is_new] = numbers_of_keys_.emplace(key, static_cast<uint32_t>(keys_.size()));
  if (is_new) keys_.push_back(key);
  return at->second;
}

Status add_collectives(const NodeTrace& node, size_t number, Moments& moments) {
  if (!tables::has_table(node.folder + "/tables", "collective")) return {};
  Kernels kernels;
  if (Status read = read_kernels(node, kernels); !read) return read;
  CollectiveCalls calls;
  const bool has_kernels = !kernels.empty();
  Moments::Key key;  // of the previous row
  uint32_t number_of_key = 0;
  const tables::TableQuery query{.columns = {}, .dictionaries = {"operation", "communicator"}};
  Status read = for_each_batch_unless_stopped(node.folder, "collective", query, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers ts(batch, "ts"), dur(batch, "dur"), proc(batch, "proc_id"), thread(batch, "thread_id"),
        sequence(batch, "sequence");
    const tables::Texts operation(batch, "operation"), communicator(batch, "communicator");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      static constexpr std::array<std::string_view, 4> kOfAll = {"AllReduce", "AllGather", "ReduceScatter", "AlltoAll"};
      const bool is_of_all = std::find(kOfAll.begin(), kOfAll.end(), operation[i]) != kOfAll.end();
      if (sequence.is_null(i) || communicator[i].empty() || !is_of_all) continue;
      if (key.name != communicator[i] || key.operation != operation[i]) {
        key = {std::string(communicator[i]), std::string(operation[i])};
        number_of_key = moments.number_of(key);
      }
      const Moment moment{
          sequence[i], ts[i], 0, number_of_key, static_cast<uint32_t>(number), static_cast<int32_t>(proc[i])};
      if (has_kernels) {
        calls.add({moment, ts[i], ts[i] + dur[i], static_cast<int32_t>(thread[i])});
      } else {
        moments.add(moment);
      }
    }
  });
  if (!read || !has_kernels) return read;
  return add_with_ends(node, calls, kernels, moments);
}

Result<std::map<int32_t, int64_t>> add_marks(const NodeTrace& node, size_t number, const std::string& name,
                                             Moments& moments) {
  const auto none = [&] {
    return fail(
        fmt::format("{} has no range \"{}\"; mlrun show {} mark lists its ranges", node.folder, name, node.folder));
  };
  for (const char* table : {"name", "mark"}) {
    if (!tables::has_table(node.folder + "/tables", table)) return none();
  }
  Marks marks;
  if (Status read = read_marks(node, name, marks); !read) return tl::make_unexpected(read.error());
  if (marks.empty()) return none();
  std::map<int32_t, int32_t> ages;
  for (const Rank& rank : node.ranks) ages[rank.proc_id] = rank.age;
  std::map<int32_t, int64_t> counts;
  auto pass = marks.pass();
  for (const Mark* mark = pass.next(); mark != nullptr; mark = pass.next()) {
    const auto age = ages.find(mark->proc_id);
    const uint32_t key = moments.number_of({name, "mark", age == ages.end() ? 0 : age->second});
    moments.add(
        {counts[mark->proc_id]++, mark->begin_ns, mark->end_ns, key, static_cast<uint32_t>(number), mark->proc_id});
  }
  return counts;
}

}  // namespace mlrun::nodes
