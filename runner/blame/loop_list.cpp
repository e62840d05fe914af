// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/loop_list.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "runner/blame/step_gaps.h"
#include "runner/util/median.h"

namespace mlrun::blame {

namespace {

struct Seen : LoopSight {
  bool loads = false;  // its stack shows that the thread loads data
};
using Sights = std::vector<Seen>;

// The place of an iterator: its slot in the innermost function that holds it. Outer functions are left out, since they may be unseen in some samples.
std::string holder_of(const std::string& place) {
  const size_t slot = place.rfind(':');
  const size_t begin = slot == std::string::npos ? std::string::npos : place.rfind('>', slot);
  return begin == std::string::npos ? place : place.substr(begin + 1);
}

// The sights of each iterator. A position that goes back means that a new iterator has the address.
std::vector<Sights> lives_of(const Timeline& timeline, int32_t thread_id, StackKinds& kinds) {
  std::vector<Sights> lives;
  const auto found = timeline.loops.sights.find(thread_id);
  if (found == timeline.loops.sights.end()) return lives;
  const Thread& thread = timeline.thread(thread_id);
  std::map<std::pair<uint64_t, int64_t>, size_t> last;
  for (const LoopSight& one : found->second) {
    if (one.is_loader) continue;
    Seen sight{one};
    const size_t sample = thread.first_sample(one.ts_ns);
    if (sample < thread.samples.size() && thread.samples[sample].start_ns == one.ts_ns)
      sight.loads = kinds.kind(thread.samples[sample].stack_id) == StackKind::kLoader;
    const auto [at, is_new] = last.emplace(std::pair(one.object, one.total), lives.size());
    if (is_new || lives[at->second].back().position > one.position) {
      at->second = lives.size();
      lives.emplace_back();
    }
    lives[at->second].push_back(sight);
  }
  return lives;
}

// The generator that holds the iterator runs only while a batch is made, unless the training itself runs in a generator.
void settle_loading(std::vector<Sights>& laps) {
  constexpr double kAlways = 0.95;
  size_t all = 0, running = 0;
  for (const Sights& lap : laps) {
    all += lap.size();
    running += static_cast<size_t>(std::count_if(lap.begin(), lap.end(), [](const Seen& one) { return one.runs; }));
  }
  const bool is_informative = static_cast<double>(running) < kAlways * static_cast<double>(all);
  for (Sights& lap : laps) {
    for (Seen& one : lap) {
      one.runs = one.runs && is_informative;
      one.loads = one.runs || one.loads;
    }
  }
}

// Number of items in a batch: if each batch takes all its items at once, most positions are multiples of that number. 0: unknown.
int64_t items_of_batch(const std::vector<Sights>& laps) {
  constexpr size_t kPositionsMin = 8;
  constexpr double kMost = 0.95;
  std::set<int64_t> all;
  for (const Sights& lap : laps) {
    for (const Seen& one : lap) {
      if (!one.loads && one.position != one.total && one.position > 0) all.insert(one.position);
    }
  }
  if (all.empty()) return 0;
  // A few positions were sampled in the middle of a batch: 95 % must be multiples of the divisor.
  std::map<int64_t, size_t> divisors;
  const std::vector<int64_t> positions(all.begin(), all.end());
  for (size_t i = 0; i + 1 < positions.size(); ++i) ++divisors[std::gcd(positions[i], positions[i + 1])];
  divisors.emplace(1, 0);
  for (auto divisor = divisors.rbegin(); divisor != divisors.rend(); ++divisor) {
    const auto multiples = std::count_if(positions.begin(), positions.end(),
                                         [&](int64_t position) { return position % divisor->first == 0; });
    if (static_cast<double>(multiples) < kMost * static_cast<double>(positions.size())) continue;
    return divisor->first > 1 && positions.size() < kPositionsMin ? 0 : divisor->first;
  }
  return 1;
}

bool has_loader(const Timeline& timeline, const LoopSight& sight) {
  return timeline.loops.places[static_cast<size_t>(sight.place)].find("DataLoaderIter.") != std::string::npos;
}

// A shuffled sampler disappears after its last items, while its DataLoader still loads or has just loaded one more batch.
bool outlives(const Timeline& timeline, int32_t thread_id, Ns last_ns, Ns after_ns) {
  const auto& all = timeline.loops.sights.at(thread_id);
  const auto at = [&](Ns ts_ns) {
    return std::equal_range(all.begin(), all.end(), LoopSight{.ts_ns = ts_ns},
                            [](const LoopSight& a, const LoopSight& b) { return a.ts_ns < b.ts_ns; });
  };
  const auto last = at(last_ns);
  const auto [later, later_end] = at(after_ns);
  const bool begins = std::any_of(later, later_end, [&](const LoopSight& one) { return has_loader(timeline, one); });
  return !begins && std::any_of(later, later_end, [&](const LoopSight& one) {
    return one.is_loader && std::any_of(last.first, last.second, [&](const LoopSight& before) {
             return before.is_loader && before.object == one.object;
           });
  });
}

// The number of steps in a lap. The last batch may be smaller, or dropped. 0: unknown.
size_t steps_of_lap(const Timeline& timeline, int32_t thread_id, const std::vector<Sights>& sights, const Loop& loop,
                    int64_t items, double step_ns, double apart_ns) {
  constexpr double kSightsMin = 4;
  const int64_t total = sights.front().front().total;
  if (total <= 0) return 0;
  const auto whole = static_cast<size_t>(total / items);
  if (total % items == 0) return whole;
  for (const Sights& lap : sights) {
    if (std::any_of(lap.begin(), lap.end(), [&](const Seen& one) { return one.position == total; })) return whole + 1;
  }
  for (const Lap& lap : loop.laps) {
    const bool is_last = lap.taken.back().second == whole;
    if (is_last && outlives(timeline, thread_id, lap.last_ns(), lap.after_ns)) return whole + 1;
  }
  const double expected = static_cast<double>(sights.size()) * step_ns / std::max(1.0, apart_ns);
  return expected >= kSightsMin ? whole : 0;
}

// Median time between two samples of the thread.
Ns apart_of(const Thread& thread) {
  std::vector<double> apart;
  for (size_t i = 1; i < thread.samples.size(); ++i)
    apart.push_back(static_cast<double>(thread.samples[i].start_ns - thread.samples[i - 1].end_ns));
  return static_cast<Ns>(util::upper_median(apart));
}

Lap lap_of(const Thread& thread, const Sights& sights, int64_t items) {
  Lap lap;
  size_t taken = 0;
  for (const Seen& one : sights) {
    auto now = static_cast<size_t>((one.position + items - 1) / items);
    if (one.loads && now > 0) --now;
    taken = std::max(taken, now);
    lap.taken.emplace_back(one.ts_ns, taken);
    if (one.position == one.total && !one.loads) break;  // later sights are of the exhausted iterator
  }
  const size_t first = thread.first_sample(lap.first_ns()), last = thread.first_sample(lap.last_ns() + 1);
  lap.before_ns = first == 0 ? thread.first_ns : thread.samples[first - 1].end_ns;
  lap.after_ns = last == thread.samples.size() ? thread.last_ns : thread.samples[last].start_ns;
  const size_t steps = lap.taken.back().second - lap.taken.front().second;
  if (steps > 0) lap.step_ns = static_cast<double>(lap.last_ns() - lap.first_ns()) / static_cast<double>(steps);
  return lap;
}

Ns ended_ns(const Sights& sights) {
  const auto end =
      std::find_if(sights.begin(), sights.end(), [](const Seen& one) { return one.position == one.total; });
  return end == sights.end() ? sights.back().ts_ns : end->ts_ns;
}

// Separates loops at one place that run at the same time, such as those of two loaders.
std::vector<std::vector<Sights>> apart(std::vector<Sights> laps) {
  std::sort(laps.begin(), laps.end(),
            [](const Sights& a, const Sights& b) { return a.front().ts_ns < b.front().ts_ns; });
  std::vector<std::vector<Sights>> tracks;
  for (Sights& lap : laps) {
    const auto track = std::find_if(tracks.begin(), tracks.end(), [&](const std::vector<Sights>& one) {
      return ended_ns(one.back()) <= lap.front().ts_ns;
    });
    (track == tracks.end() ? tracks.emplace_back() : *track).push_back(std::move(lap));
  }
  return tracks;
}

// std::nullopt: some lap cannot be followed to its end.
std::optional<Loop> loop_of(const Timeline& timeline, int32_t thread_id, std::vector<Sights> sights) {
  constexpr double kLate = 1.5;  // steps between the last sample and the end
  constexpr size_t kSightsMin = 3;
  const Thread& thread = timeline.thread(thread_id);
  settle_loading(sights);
  const int64_t items = items_of_batch(sights);
  if (items == 0) return std::nullopt;
  Loop loop;
  loop.of_loader = std::any_of(sights.front().begin(), sights.front().end(),
                               [&](const Seen& one) { return has_loader(timeline, one); });
  std::vector<double> lengths;
  for (const Sights& one : sights) {
    if (one.size() < kSightsMin) return std::nullopt;
    loop.laps.push_back(lap_of(thread, one, items));
    if (loop.laps.back().step_ns > 0) lengths.push_back(loop.laps.back().step_ns);
  }
  if (lengths.empty()) return std::nullopt;
  const double usual_ns = util::upper_median(lengths);
  // A step that seems as long as the time between two samples may be two steps: then all positions are multiples of two batches.
  constexpr double kInTime = 0.04;
  const auto apart_ns = static_cast<double>(apart_of(thread));
  if (items > 1 && std::abs(usual_ns - apart_ns) < kInTime * apart_ns) return std::nullopt;
  loop.steps_of_lap = steps_of_lap(timeline, thread_id, sights, loop, items, usual_ns, apart_ns);
  Ns until_ns = 0;
  for (Lap& lap : loop.laps) {
    if (lap.step_ns == 0) lap.step_ns = usual_ns;
    const auto [at_ns, taken] = lap.taken.back();
    const double unseen = static_cast<double>(lap.after_ns - at_ns) / lap.step_ns + kLate;
    const bool ends = taken <= loop.steps_of_lap && static_cast<double>(loop.steps_of_lap - taken) <= unseen;
    if (!ends || lap.first_ns() < until_ns) return std::nullopt;
    until_ns = lap.last_ns();
  }
  return loop;
}

}  // namespace

Ns Loop::ns() const {
  return std::accumulate(laps.begin(), laps.end(), Ns{0},
                         [](Ns sum, const Lap& lap) { return sum + lap.last_ns() - lap.first_ns(); });
}

std::vector<Loop> list_loops(const Timeline& timeline, int32_t thread_id, StackKinds& kinds) {
  std::map<std::pair<std::string, int64_t>, std::vector<Sights>> places;
  for (Sights& life : lives_of(timeline, thread_id, kinds)) {
    std::map<std::string, size_t> holders;
    for (const Seen& one : life) ++holders[holder_of(timeline.loops.places[static_cast<size_t>(one.place)])];
    const auto most = std::max_element(holders.begin(), holders.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto key = std::pair(most->first, life.front().total);
    places[key].push_back(std::move(life));
  }
  std::vector<Loop> loops;
  for (auto& [place, sights] : places) {
    for (std::vector<Sights>& track : apart(std::move(sights))) {
      if (auto loop = loop_of(timeline, thread_id, std::move(track))) loops.push_back(*std::move(loop));
    }
  }
  return loops;
}

}  // namespace mlrun::blame
