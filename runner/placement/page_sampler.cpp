// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/page_sampler.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "runner/events/placed_mappings.h"
#include "runner/util/background_thread.h"
#include "runner/util/file_io.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::placement {

namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kPagesAtOnce = 1024;
constexpr size_t kProcessesAtOnce = 32;  // sampled in one second; if there are more, they take turns

struct Span {
  uint64_t start = 0, end = 0;
};

// The mappings of a process, by rising address.
std::vector<Span> mapped_spans(int pid) {
  std::vector<Span> spans;
  const std::string maps = util::read_text(fmt::format("/proc/{}/maps", pid));
  for (const std::string_view line : util::split(maps, "\n")) {
    if (const auto map = util::maps_line(line)) spans.push_back({map->start, map->end});
  }
  return spans;
}

// Adds the parts of `all` that are in [from, to).
void add_parts(const std::vector<Span>& all, uint64_t from, uint64_t to, std::vector<Span>& parts) {
  for (const Span& span : all) {
    if (span.start < to && span.end > from) parts.push_back({std::max(span.start, from), std::min(span.end, to)});
  }
}

// The mappings that overlap no newer one that is kept itself. Requires: the newest come first.
std::vector<PlacedMapping> newest(const std::vector<PlacedMapping>& mappings) {
  std::vector<PlacedMapping> kept;
  for (const PlacedMapping& one : mappings) {
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const PlacedMapping& other) { return one.start < other.end && other.start < one.end; }))
      kept.push_back(one);
  }
  return kept;
}

uint64_t resident_bytes_of(int pid) {
  const std::string statm = util::read_text(fmt::format("/proc/{}/statm", pid));
  const auto words = util::split(statm, " ");
  uint64_t pages = 0;
  if (words.size() > 1) std::from_chars(words[1].data(), words[1].data() + words[1].size(), pages);
  return pages * kPage;
}

// Up to kPagesAtOnce pages: divides all pages into as many equal parts and chooses one at random in each.
std::vector<uint64_t> choose_pages(const std::vector<Span>& spans, uint64_t total) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const size_t count = std::min<uint64_t>(total, kPagesAtOnce);
  std::vector<uint64_t> pages;
  uint64_t before = 0;
  size_t part = 0;
  for (const Span& span : spans) {
    const uint64_t size = (span.end - span.start) / kPage;
    for (; part < count; part++) {
      const uint64_t low = total * part / count, high = total * (part + 1) / count;
      const uint64_t at = low + random() % std::max<uint64_t>(high - low, 1);
      if (at >= before + size) break;
      pages.push_back(span.start + (std::max(at, before) - before) * kPage);
    }
    before += size;
  }
  return pages;
}

void sample_rule(int pid, const std::vector<Span>& spans, uint64_t resident_bytes, PagesFound& found) {
  uint64_t total = 0;
  for (const Span& span : spans) total += (span.end - span.start) / kPage;
  const std::vector<uint64_t> pages = choose_pages(spans, total);
  std::vector<int> nodes(pages.size(), -1);
  if (pages.empty() || ::syscall(SYS_move_pages, pid, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0)
    return;
  found.samples++;
  found.resident_bytes += resident_bytes;
  for (const int node : nodes) {
    if (node < 0) continue;
    found.sampled[node]++;
    found.bytes[node] += static_cast<double>(total * kPage) / static_cast<double>(pages.size());
  }
}

}  // namespace

void sample_pages(const HeapPlace& place, uint32_t rules, FoundBySlotAndRule& found) {
  const std::vector<Span> all = mapped_spans(place.pid);
  const std::vector<PlacedMapping> mappings = newest(place.mappings);
  const uint64_t resident_bytes = resident_bytes_of(place.pid);
  const uint64_t each = place.window_bytes / MLRUN_PLACE_SEGMENT / rules * MLRUN_PLACE_SEGMENT;
  for (uint32_t rule = 0; rule < rules; rule++) {
    std::vector<Span> spans;
    if (each != 0) add_parts(all, place.window + rule * each, place.window + (rule + 1) * each, spans);
    for (const PlacedMapping& one : mappings) {
      if (one.rule == rule) add_parts(all, one.start, one.end, spans);
    }
    if (!spans.empty()) sample_rule(place.pid, spans, resident_bytes, found[{place.slot, rule}]);
  }
}

struct PageSampler::State {
  explicit State(uint32_t number) : rules(number) {}

  const uint32_t rules;
  std::mutex lock;
  std::condition_variable stopped;
  bool stops = false;
  std::vector<HeapPlace> places;
  size_t next = 0;
  FoundBySlotAndRule found;

  void run() {
    std::unique_lock<std::mutex> held(lock);
    while (!stopped.wait_for(held, std::chrono::seconds(1), [&] { return stops; })) {
      const std::vector<HeapPlace> now = places;
      held.unlock();
      FoundBySlotAndRule fresh = found;  // only this thread writes `found`
      for (size_t i = 0; i < std::min(now.size(), kProcessesAtOnce); i++)
        sample_pages(now[next++ % now.size()], rules, fresh);
      held.lock();
      found = std::move(fresh);
    }
  }
};

PageSampler::PageSampler(uint32_t rules) : state_(std::make_shared<State>(rules)) {
  problem_ = util::start_background_thread([state = state_] { state->run(); });
}

PageSampler::~PageSampler() {
  const std::lock_guard<std::mutex> held(state_->lock);
  state_->stops = true;
  state_->stopped.notify_all();
}

void PageSampler::set_places(std::vector<HeapPlace> places) {
  const std::lock_guard<std::mutex> held(state_->lock);
  state_->places = std::move(places);
}

FoundBySlotAndRule PageSampler::finish(std::string& problem) {
  const std::lock_guard<std::mutex> held(state_->lock);
  state_->stops = true;
  state_->stopped.notify_all();
  problem = problem_;
  return state_->found;
}

}  // namespace mlrun::placement
