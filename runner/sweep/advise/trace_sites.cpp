// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/trace_sites.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/events/placement.h"
#include "runner/parquet/table_batches.h"
#include "runner/sweep/advise/process_ends.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kIdDigits = 16;

using tables::Numbers;
using tables::Texts;

struct SiteName {
  std::string signature, label;  // empty: the innermost frame is in no file with a build id
  std::vector<FrameName> frames;
  bool is_cut = false;     // as Site::is_cut
  std::string without_id;  // file of the frame at which the signature ends; empty: no file, or it does not end early
};

// A call stack of the trace: its innermost frames by depth, and why it has no more.
struct StackFrames {
  std::map<int64_t, int64_t> by_depth;
  bool is_broken = false;  // neither the outermost function nor the limit of --stacks was reached
};

class Stacks {
 public:
  Status read(const std::string& folder) {
    std::unordered_map<int64_t, FrameName> frames;
    Status read =
        tables::for_each_batch(folder, "frame", {.columns = {"frame_id", "function", "library", "offset", "build_id"}},
                               [&](const arrow::RecordBatch& batch) { add_frames(batch, frames); });
    if (!read) return read;
    std::map<int64_t, StackFrames> stacks;
    // Traces of older versions lack the column `ending`.
    Status rows = tables::for_each_batch(folder, "stack", {}, [&](const arrow::RecordBatch& batch) {
      const Numbers id(batch, "stack_id"), depth(batch, "depth"), frame(batch, "frame_id");
      const Texts ending(batch, "ending");
      for (int64_t row = 0; row < batch.num_rows(); row++) {
        if (depth[row] >= MLRUN_PLACE_FRAMES) continue;
        StackFrames& stack = stacks[id[row]];
        stack.by_depth[depth[row]] = frame[row];
        stack.is_broken |= !ending[row].empty() && ending[row] != "root" && ending[row] != "depth";
      }
    });
    if (!rows) return rows;
    for (const auto& [id, stack] : stacks) names_[id] = name_of(stack, frames);
    return {};
  }

  // nullptr: there is no such stack.
  [[nodiscard]] const SiteName* find(int64_t stack_id) const {
    const auto found = names_.find(stack_id);
    return found == names_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool empty() const { return names_.empty(); }

 private:
  static void add_frames(const arrow::RecordBatch& batch, std::unordered_map<int64_t, FrameName>& frames) {
    const Numbers id(batch, "frame_id"), offset(batch, "offset");
    const Texts function(batch, "function"), build_id(batch, "build_id"), library(batch, "library");
    for (int64_t row = 0; row < batch.num_rows(); row++) {
      const std::string_view build = build_id[row].substr(0, kIdDigits);
      frames[id[row]] = {build.empty() ? std::string() : fmt::format("{}+{:x}", build, offset[row]),
                         std::string(function[row]), std::string(library[row])};
    }
  }

  // A signature ends before the first frame that is in no file with a build id.
  static SiteName name_of(const StackFrames& stack, const std::unordered_map<int64_t, FrameName>& frames) {
    std::vector<std::string> places, functions;
    SiteName name;
    name.is_cut = stack.is_broken;
    for (const auto& [depth, frame] : stack.by_depth) {
      const auto found = frames.find(frame);
      if (found == frames.end() || found->second.place.empty()) {
        name.is_cut = true;
        if (found != frames.end()) name.without_id = found->second.library;
        break;
      }
      const FrameName& one = found->second;
      name.frames.push_back(one);
      places.push_back(one.place);
      if (functions.size() < kLabelFrames) functions.push_back(one.function.empty() ? "?" : one.function);
    }
    name.signature = fmt::format("{}", fmt::join(places, ","));
    name.label = fmt::format("{}", fmt::join(functions, " < "));
    return name;
  }

  std::unordered_map<int64_t, SiteName> names_;
};

struct Event {
  int64_t at_ns = 0, began_ns = 0;  // when the block began or ended; start of the call
  int64_t process = 0, address = 0;
  uint64_t bytes = 0;  // 0: the block was freed
  int64_t stack = 0;
};

void add_events(const arrow::RecordBatch& batch, uint64_t min_bytes, std::vector<Event>& events) {
  const Numbers ts(batch, "ts"), dur(batch, "dur"), process(batch, "proc_id"), address(batch, "addr"),
      size(batch, "size"), old(batch, "old_addr"), stack(batch, "stack_id");
  const Texts op(batch, "op");
  for (int64_t row = 0; row < batch.num_rows(); row++) {
    const auto bytes = static_cast<uint64_t>(size[row]);
    if (op[row] == "free") {
      // A free has the usable size of the block; 0: unknown.
      if (bytes == 0 || bytes >= min_bytes) events.push_back({ts[row], ts[row], process[row], address[row], 0, 0});
      continue;
    }
    const int64_t end = ts[row] + dur[row];
    if (!old.is_null(row)) events.push_back({end, ts[row], process[row], old[row], 0, 0});
    if (bytes >= min_bytes) events.push_back({end, ts[row], process[row], address[row], bytes, stack[row]});
  }
}

// Sets the weights of the sites, and the one of all other blocks.
void rank(const std::string& rung, TraceSites& result) {
  Accesses all;
  for (const Site& site : result.sites) all += site.accesses;
  const bool by_events = rung == "precise" && all.accesses > 0, by_latency = by_events && all.load_cycles > 0;
  const bool by_heat = !by_events && all.touched_byte_s > 0;
  const double mean_heat = by_heat ? all.touched_byte_s / all.seen_byte_s : 1;
  for (Site& site : result.sites) {
    const Accesses& seen = site.accesses;
    const bool is_seen = seen.seen_byte_s > 0;
    if (by_events) {
      site.weight = by_latency ? seen.load_cycles : seen.accesses;
    } else {
      site.weight = site.byte_seconds * (by_heat && is_seen ? seen.touched_byte_s / seen.seen_byte_s : mean_heat);
    }
    result.unseen += by_heat && !is_seen ? 1 : 0;
    result.weight += site.weight;
  }
  Site& elsewhere = result.elsewhere;
  elsewhere.weight = by_latency  ? elsewhere.accesses.load_cycles
                     : by_events ? elsewhere.accesses.accesses
                                 : elsewhere.byte_seconds * mean_heat;
  if (by_events || by_heat) result.rung = rung;
  result.ranked_by = by_latency  ? "loads x latency, by precise events"
                     : by_events ? "loads and stores, by precise events"
                     : by_heat   ? "hot bytes x time, by --access=" + rung
                                 : "bytes x time";
}

// Matches allocations with their frees, in order of time.
class Lives {
 public:
  Lives(const Stacks& stacks, const ProcessEnds& ends, const SiteAccesses& accesses, TraceSites& result)
      : stacks_(stacks), ends_(ends), accesses_(accesses), result_(result) {}

  void add(const Event& event) {
    const auto key = std::make_pair(event.process, event.address);
    last_ns_ = event.at_ns;
    if (const auto found = live_.find(key); found != live_.end()) {
      // Another thread got this block while realloc moved the old one away.
      if (event.bytes == 0 && found->second.at_ns > event.began_ns) return;
      finish(found->second, event.at_ns);
      live_.erase(found);
    }
    if (event.bytes != 0) live_[key] = event;
  }

  // `run_end_ns`: the end of the command; 0: unknown. Blocks that are not freed live until then, or until their process ends.
  void end(int64_t run_end_ns) {
    const int64_t end_ns = std::max({last_ns_, ends_.latest_ns(), run_end_ns});
    for (const auto& [key, event] : live_) finish(event, end_ns);
    for (const auto& [stack, seen] : accesses_.by_stack) {
      const SiteName* const name = stacks_.find(stack);
      const auto site = name == nullptr ? sites_.end() : sites_.find(name->signature);
      if (site != sites_.end()) site->second.accesses += seen;
      if (stacks_elsewhere_.contains(stack)) result_.elsewhere.accesses += seen;
    }
    for (auto site = sites_.begin(); site != sites_.end(); ++site) {
      const auto next = std::next(site);
      add_site(std::move(site->second), next != sites_.end() && next->first.starts_with(site->first + ","));
    }
    rank(accesses_.rung, result_);
    std::stable_sort(result_.sites.begin(), result_.sites.end(),
                     [](const Site& a, const Site& b) { return a.weight > b.weight; });
  }

 private:
  // A rule with one site's callers also matches every signature that begins with them. Such sites follow in the sorted map, and are added
  // to that site. But a cut signature is no site if others begin with it: its rule would match the blocks of many sites.
  void add_site(Site site, bool is_begin_of_next) {
    if (!result_.sites.empty() && site.signature.starts_with(result_.sites.back().signature + ",")) {
      add_to(result_.sites.back(), site);
    } else if (site.is_cut && is_begin_of_next) {
      result_.cut += site.lives.size();
      for (const BlockLife& life : site.lives) result_.cut_bytes += life.bytes;
      add_to(result_.elsewhere, site);
    } else {
      result_.sites.push_back(std::move(site));
    }
  }

  static void add_to(Site& one, const Site& other) {
    one.byte_seconds += other.byte_seconds;
    one.accesses += other.accesses;
    one.lives.insert(one.lives.end(), other.lives.begin(), other.lives.end());
  }

  void finish(const Event& event, int64_t until_ns) {
    const int64_t at_ns = ends_.of_block(event.process, event.at_ns, until_ns);
    const uint64_t bytes = (event.bytes + kPage - 1) / kPage * kPage;
    const SiteName* const name = stacks_.find(event.stack);
    const bool has_site = name != nullptr && !name->signature.empty();
    Site& site = has_site ? sites_[name->signature] : result_.elsewhere;
    site.byte_seconds += static_cast<double>(bytes) * static_cast<double>(at_ns - event.at_ns) / 1e9;
    site.lives.push_back({event.at_ns, at_ns, bytes});
    result_.blocks++;
    if (has_site) {
      site.is_cut |= name->is_cut;
      if (!site.signature.empty()) return;
      site.signature = name->signature;
      site.label = name->label;
      site.frames = name->frames;
      return;
    }
    stacks_elsewhere_.insert(event.stack);
    if (name == nullptr) return;
    result_.without_build_id++;
    if (result_.file_without_build_id.empty()) result_.file_without_build_id = name->without_id;
  }

  const Stacks& stacks_;
  const ProcessEnds& ends_;
  const SiteAccesses& accesses_;
  TraceSites& result_;
  std::map<std::pair<int64_t, int64_t>, Event> live_;
  std::map<std::string, Site> sites_;
  std::set<int64_t> stacks_elsewhere_;
  int64_t last_ns_ = 0;
};

}  // namespace

Result<TraceSites> read_sites(const std::string& trace, uint64_t min_bytes, int64_t run_end_ns) {
  Stacks stacks;
  if (const Status read = stacks.read(trace); !read) return tl::make_unexpected(read.error());
  if (stacks.empty())
    return fail(
        fmt::format("{} has no call stacks, which name the sites; record it with --stacks=16 --alloc-min=64K", trace));
  std::vector<Event> events;
  const Status read = tables::for_each_batch(
      trace, "alloc",
      {.columns = {"ts", "dur", "proc_id", "op", "addr", "size", "old_addr", "stack_id"}, .dictionaries = {"op"}},
      [&](const arrow::RecordBatch& batch) { add_events(batch, min_bytes, events); });
  if (!read) return tl::make_unexpected(read.error());
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.at_ns < b.at_ns; });
  const auto accesses = read_accesses(trace);
  if (!accesses) return tl::make_unexpected(accesses.error());
  const auto ends = ProcessEnds::read(trace);
  if (!ends) return tl::make_unexpected(ends.error());
  TraceSites result;
  Lives lives(stacks, *ends, *accesses, result);
  for (const Event& event : events) lives.add(event);
  lives.end(run_end_ns);
  return result;
}

Status check_sites(const std::string& trace, uint64_t min_bytes, const TraceSites& found) {
  if (!found.sites.empty()) return {};
  const std::string blocks = fmt::format("blocks of {} and more", util::size_text(min_bytes));
  if (found.blocks == 0) return fail(fmt::format("{} has no {}", trace, blocks));
  if (found.without_build_id == 0)
    return fail(
        fmt::format("{} has no {} with a call stack; record it with --stacks=16 --alloc-min=64K", trace, blocks));
  const std::string& file = found.file_without_build_id;
  return fail(fmt::format(
      "{}: {} of {} {} are allocated by code without a build id{}", trace, found.without_build_id, found.blocks, blocks,
      file.empty() ? ", such as code that is generated at run time: rules know code by its build id"
                   : fmt::format(" ({}), by which rules know it; link it with -Wl,--build-id and record it again",
                                 util::printable(file))));
}

}  // namespace mlrun::sweep
