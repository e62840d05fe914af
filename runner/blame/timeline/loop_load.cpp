// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/timeline/loop_load.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <arrow/api.h>

#include "runner/parquet/batch_columns.h"
#include "runner/parquet/table_batches.h"
#include "runner/util/number.h"

namespace mlrun::blame {

namespace {

using tables::Numbers;
using tables::Texts;

// Removes the text up to and including `end` and returns what came before `end`; all of the text if `end` is missing.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + end.size()));
  return taken;
}

class Places {
 public:
  explicit Places(Loops& loops) : loops_(loops) {}

  // "PLACE KIND@ADDRESS POSITION/TOTAL!"
  std::optional<LoopSight> sight(std::string_view text) {
    LoopSight sight;
    const std::string_view place = take_until(text, " "), kind = take_until(text, "@"), object = take_until(text, " ");
    sight.is_loader = kind == "loader";
    sight.runs = text.ends_with('!');
    if (sight.runs) text.remove_suffix(1);
    const auto address = util::whole_number<uint64_t>(object, 16);
    const auto position = util::whole_number<int64_t>(take_until(text, "/")), total = util::whole_number<int64_t>(text);
    constexpr int64_t kTotalMost = int64_t{1} << 40;  // larger numbers are taken as damage of the trace
    if (place.empty() || kind.empty() || !address || !position || !total) return std::nullopt;
    if (*position < 0 || *total < *position || *total > kTotalMost) return std::nullopt;
    sight.object = *address;
    sight.position = *position;
    sight.total = *total;
    sight.place = number(std::string(place));
    return sight;
  }

 private:
  int32_t number(const std::string& place) {
    const auto [at, is_new] = numbers_.emplace(place, static_cast<int32_t>(loops_.places.size()));
    if (is_new) loops_.places.push_back(place);
    return at->second;
  }

  Loops& loops_;
  std::unordered_map<std::string, int32_t> numbers_;
};

}  // namespace

Status load_loops(const std::string& folder, Timeline& timeline) {
  if (!tables::has_table(folder + "/tables", "python_stack")) return {};
  auto whole = tables::TableReader::open(folder, "python_stack");
  if (!whole) return tl::make_unexpected(whole.error());
  if (whole->schema()->GetFieldIndex("loops") < 0) return {};
  Places places(timeline.loops);
  const auto add = [&](const arrow::RecordBatch& batch) {
    const Numbers ts(batch, "ts"), dur(batch, "dur"), thread(batch, "thread_id");
    const Texts loops(batch, "loops");
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      for (std::string_view rest = loops[row]; !rest.empty();) {
        auto sight = places.sight(take_until(rest, "; "));
        if (!sight) continue;
        auto& sights = timeline.loops.sights[static_cast<int32_t>(thread[row])];
        sight->ts_ns = ts[row];
        sights.push_back(*sight);
        sight->ts_ns += dur[row];
        if (dur[row] > 0) sights.push_back(*sight);  // the thread slept at this place until then
      }
    }
  };
  tables::TableQuery query{.columns = {"ts", "dur", "thread_id", "loops"}};
  if (Status read = tables::for_each_batch(folder, "python_stack", std::move(query), add); !read) return read;
  for (auto& [thread, sights] : timeline.loops.sights) {
    std::stable_sort(sights.begin(), sights.end(),
                     [](const LoopSight& a, const LoopSight& b) { return a.ts_ns < b.ts_ns; });
  }
  return {};
}

}  // namespace mlrun::blame
