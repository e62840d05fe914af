// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/counts_area.h"

#include <algorithm>
#include <cstring>

#include "runner/collect/shared_word.h"
#include "runner/events/placed_mappings.h"

namespace mlrun::placement {

using collect::load, collect::store;

namespace {

mlrun_place_cache* caches_in(mlrun_placement& area) {
  return reinterpret_cast<mlrun_place_cache*>(reinterpret_cast<char*>(&area) + MLRUN_PLACE_CACHES_OFFSET);
}

mlrun_place_mapping* entries_in(mlrun_placement& area) {
  char* const all = reinterpret_cast<char*>(&area) + MLRUN_PLACE_MAPPINGS_OFFSET;
  return reinterpret_cast<mlrun_place_mappings*>(all)->entry;
}

// Adds what a thread has counted for the rule in its cache.
void add_cache(const mlrun_place_cache& cache, mlrun_place_count& count) {
  count.matches += cache.matches;
  count.bytes += cache.bytes;
  count.live_bytes -= std::min(count.live_bytes, cache.cached_bytes);
}

void add_count(const mlrun_place_count& count, mlrun_place_count& sum) {
  sum.matches += count.matches;
  sum.bytes += count.bytes;
  sum.fallbacks += count.fallbacks;
  sum.fallback_bytes += count.fallback_bytes;
  sum.live_bytes += count.live_bytes;
  sum.peak_bytes = std::max(sum.peak_bytes, count.peak_bytes);
}

}  // namespace

CountsArea::CountsArea(mlrun_placement& area, uint32_t rules)
    : area_(area), rules_(rules), slots_offset_(area.slots_offset), slot_bytes_(area.slot_bytes) {
  const uint32_t count = area.slots_count;
  const bool is_sane = area.rules_count == rules && slots_offset_ % alignof(mlrun_place_slot) == 0 &&
                       slot_bytes_ == sizeof(mlrun_place_slot) + rules * sizeof(mlrun_place_count) &&
                       slots_offset_ + uint64_t{count} * slot_bytes_ <= MLRUN_PLACE_CACHES_OFFSET;
  if (is_sane) slots_ = count;
}

mlrun_place_slot& CountsArea::slot_at(uint32_t slot) const {
  return *reinterpret_cast<mlrun_place_slot*>(at(slots_offset_ + uint64_t{slot} * slot_bytes_));
}

mlrun_place_count& CountsArea::count_at(uint32_t slot, uint32_t rule) const {
  return reinterpret_cast<mlrun_place_count*>(&slot_at(slot) + 1)[rule];
}

std::vector<CountedProcess> CountsArea::processes() const {
  std::vector<CountedProcess> result;
  for (uint32_t i = 0; i < slots_; i++) {
    const uint32_t state = load(slot_at(i).state);
    mlrun_place_slot slot;
    std::memcpy(&slot, &slot_at(i), sizeof slot);
    if (state == MLRUN_PLACE_TAKEN || state == MLRUN_PLACE_SUM)
      result.push_back({i, slot.number, slot.pid, slot.pid_namespace, slot.window, slot.window_bytes,
                        slot.mappings_left_out, slot.vdso_page});
  }
  std::sort(result.begin(), result.end(),
            [](const CountedProcess& a, const CountedProcess& b) { return a.number - 1 < b.number - 1; });
  return result;
}

std::vector<mlrun_place_count> CountsArea::counts_of(uint32_t slot) const {
  std::vector<mlrun_place_count> counts(rules_);
  std::memcpy(counts.data(), &count_at(slot, 0), rules_ * sizeof counts[0]);
  for (uint32_t i = 0; i < MLRUN_PLACE_CACHES; i++) {
    mlrun_place_cache cache;
    if (load(caches_in(area_)[i].slot) != slot + 1) continue;
    std::memcpy(&cache, &caches_in(area_)[i], sizeof cache);
    if (cache.rule < rules_) add_cache(cache, counts[cache.rule]);
  }
  return counts;
}

std::map<uint32_t, std::vector<PlacedMapping>> CountsArea::mappings() const {
  std::vector<mlrun_place_mapping> all;
  for (uint32_t i = 0; i < MLRUN_PLACE_MAPPINGS; i++) {
    const mlrun_place_mapping& entry = entries_in(area_)[i];
    mlrun_place_mapping copy;
    const uint64_t number = load(entry.number);
    std::memcpy(&copy, &entry, sizeof copy);
    copy.number = number;
    const bool is_whole = number != 0 && number < MLRUN_PLACE_BUSY && load(entry.number) == number;
    if (is_whole && copy.rule < rules_) all.push_back(copy);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.number > b.number; });
  std::map<uint32_t, std::vector<PlacedMapping>> result;
  for (const mlrun_place_mapping& one : all) result[one.slot].push_back({one.rule, one.at, one.at + one.bytes});
  return result;
}

void CountsArea::forget_mappings(const std::set<uint32_t>& slots) {
  if (slots.empty()) return;
  for (uint32_t i = 0; i < MLRUN_PLACE_MAPPINGS; i++) {
    mlrun_place_mapping& entry = entries_in(area_)[i];
    __u64 number = load(entry.number);
    if (number == 0) continue;
    const auto slot = static_cast<uint32_t>(number >= MLRUN_PLACE_BUSY ? number - MLRUN_PLACE_BUSY : entry.slot);
    // Fails if a process has just taken the entry for another mapping.
    if (slots.contains(slot)) {
      __atomic_compare_exchange_n(&entry.number, &number, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
  }
}

bool CountsArea::caches_are_scarce() const { return load(area_.caches_taken) > MLRUN_PLACE_CACHES / 2; }

void CountsArea::give_back_caches(const std::set<uint32_t>& slots) {
  for (uint32_t i = 0; i < MLRUN_PLACE_CACHES; i++) {
    mlrun_place_cache& cache = caches_in(area_)[i];
    const uint32_t slot = load(cache.slot) - 1;
    if (!slots.contains(slot) || slot >= slots_) continue;
    if (cache.rule < rules_) add_cache(cache, count_at(slot, cache.rule));
    cache.matches = cache.bytes = cache.cached_bytes = 0;
    store(cache.slot, __u32{0});
    __atomic_fetch_sub(&area_.caches_taken, 1, __ATOMIC_RELAXED);
  }
}

// The first slot that is given back becomes that of the sum.
void CountsArea::give_back(uint32_t slot) {
  if (slot >= slots_ || sum_ == slot) return;
  forget_mappings({slot});
  give_back_caches({slot});
  const std::vector<mlrun_place_count> counts = counts_of(slot);
  mlrun_place_slot& given = slot_at(slot);
  if (sum_) slot_at(*sum_).mappings_left_out |= given.mappings_left_out;
  for (uint32_t rule = 0; rule < rules_; rule++) {
    if (sum_) add_count(counts[rule], count_at(*sum_, rule));
    count_at(slot, rule) = sum_ ? mlrun_place_count{} : counts[rule];
  }
  given.pid = given.number = given.vdso_page = 0;
  given.pid_namespace = given.window = given.window_bytes = 0;
  if (sum_) given.mappings_left_out = 0;
  store(given.state, static_cast<__u32>(sum_ ? MLRUN_PLACE_UNUSED : MLRUN_PLACE_SUM));
  if (!sum_) sum_ = slot;
}

}  // namespace mlrun::placement
