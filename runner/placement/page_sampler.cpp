// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/page_sampler.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "runner/events/placed_mappings.h"
#include "runner/events/session.h"
#include "runner/model/run.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/sampler_thread.h"
#include "runner/util/text.h"
#include "runner/util/time_units.h"
#include "runner/util/unique_fd.h"

namespace mlrun::placement {

namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kPagesAtOnce = 1024;
constexpr uint64_t kSparseMost = 8;  // times as many pages where only a part of what is mapped is resident
constexpr uint32_t kSeenLeast = 2;   // times in a row without the library
constexpr size_t kPagesOfAFile = 256, kFilesAtOnce = 16;  // of each process; files smaller than 1 MiB are not sampled
constexpr size_t kFoundMax = 4096;                        // files of all processes; processes without the library
constexpr uint64_t kCostMax = 100;                        // samples take at most 1/100 of a CPU
constexpr std::chrono::nanoseconds kPagePatience(0);      // a call of the kernel is not waited for
constexpr uint64_t kFirstPauseNs = 100'000'000;           // doubled up to a second: a short command has samples, too
constexpr size_t kProcessesAtOnce = 32;                   // in one sample; if there are more, they take turns
constexpr size_t kRowsMax = 1 << 20;                      // a sample that finds so many rows before it has none

// Empty: the process has ended, or mlrun may not read them.
std::vector<Mapping> mappings_of(uint32_t pid, const std::string& arena) {
  return read_mappings(util::read_text(fmt::format("/proc/{}/maps", pid)), arena);
}

// Whether this is the image that took the slot. Its pid stays when it executes another one, which has none if no rule fits its blocks.
bool has_slot(const std::vector<Mapping>& mappings, const HeapPlace& place) {
  const auto vdso = std::find_if(mappings.begin(), mappings.end(), [](const Mapping& one) { return one.is_vdso; });
  if (place.vdso_page == 0 || vdso == mappings.end()) return true;  // unknown
  return static_cast<uint32_t>(vdso->span.start / kPage) == place.vdso_page;
}

bool has_library(const std::vector<Mapping>& mappings) {
  return std::any_of(mappings.begin(), mappings.end(),
                     [](const Mapping& one) { return util::base_name(one.file) == MLRUN_PLACEMENT_LIBRARY; });
}

// Memory of the process without a file. Reservations (PROT_NONE) are addresses alone.
bool is_memory(const Mapping& mapping) { return mapping.is_own_memory && mapping.is_accessible; }

// Where rules place blocks, by the place of their library. Not by slots: a process can place its first block, or fork, right before it is sampled.
// The window is 64 MiB too large, because only the library's bounds are known; the kernel places no mapping there.
Span window_in(const std::vector<Mapping>& mappings) {
  constexpr uint64_t kBelow = uint64_t{1} << MLRUN_PLACE_BELOW_BITS, kSegment = MLRUN_PLACE_SEGMENT;
  Span library;
  for (const Mapping& one : mappings) {
    if (util::base_name(one.file) != MLRUN_PLACEMENT_LIBRARY) continue;
    if (library.start == 0) library.start = one.span.start;
    library.end = one.span.end;
  }
  if (library.start < kBelow + kSegment * (MLRUN_PLACE_SEGMENTS + 1)) return {};
  return {(library.start - kBelow) / kSegment * kSegment - kSegment * MLRUN_PLACE_SEGMENTS, library.end - kBelow};
}

// Adds the parts of `mapping` that are in [from, to).
void add_part(const Mapping& mapping, uint64_t from, uint64_t to, std::vector<Span>& parts) {
  const Span& span = mapping.span;
  if (span.start < to && span.end > from) parts.push_back({std::max(span.start, from), std::min(span.end, to)});
}

// Adds the parts of `span` outside of [from, to).
void add_outside(const Span& span, uint64_t from, uint64_t to, std::vector<Span>& parts) {
  if (span.start < std::min(span.end, from)) parts.push_back({span.start, std::min(span.end, from)});
  if (std::max(span.start, to) < span.end) parts.push_back({std::max(span.start, to), span.end});
}

std::vector<Span> without(const std::vector<Span>& spans, uint64_t from, uint64_t to) {
  std::vector<Span> parts;
  for (const Span& span : spans) add_outside(span, from, to, parts);
  return parts;
}

uint64_t pages_of(const std::vector<Span>& spans) {
  uint64_t pages = 0;
  for (const Span& span : spans) pages += (span.end - span.start) / kPage;
  return pages;
}

uint64_t resident_bytes_of(uint32_t pid) {
  return read_resident_bytes(util::read_text(fmt::format("/proc/{}/statm", pid)),
                             util::read_text(fmt::format("/proc/{}/status", pid)));
}

// As many pages as give the resident ones a sample of usual size.
size_t pages_at_once(const std::vector<Span>& spans, uint64_t resident_bytes) {
  const uint64_t times = pages_of(spans) / std::max<uint64_t>(resident_bytes / kPage, 1);
  return kPagesAtOnce * std::clamp<uint64_t>(times, 1, kSparseMost);
}

// Adds a row for each page that has a node. All represent the same number of bytes, together at most what is resident.
void add_rows(mlrun_page_sample row, const std::vector<uint64_t>& pages, const std::vector<int>& nodes,
              double bytes_each, uint64_t resident_bytes, PageRows& rows) {
  const auto count = static_cast<uint64_t>(std::ranges::count_if(nodes, [](int node) { return node >= 0; }));
  if (count == 0 || rows.size() >= kRowsMax) return;
  row.bytes = std::min(static_cast<uint64_t>(bytes_each), resident_bytes / count);
  for (size_t i = 0; i < pages.size(); i++) {
    if (nodes[i] < 0) continue;
    row.address = pages[i];
    row.node = static_cast<__s16>(nodes[i]);
    rows.push_back(row);
  }
}

// rule: -1: none. rows: nullptr: none are kept.
void sample(uint32_t pid, const std::vector<Span>& spans, size_t most, uint64_t resident_bytes, PagesFound& found,
            PageRows* rows = nullptr, int rule = -1) {
  const uint64_t now_ns = util::monotonic_ns();
  const std::vector<uint64_t> pages = choose_pages(spans, most);
  std::vector<int> nodes(pages.size(), -1);
  if (pages.empty()) return;
  if (::syscall(SYS_move_pages, pid, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0) {
    // It has ended: EINVAL until it is reaped, since it has no memory any more.
    if (errno != ESRCH && errno != EINVAL) found.error = errno;
    return;
  }
  std::map<int, uint64_t> on_node;
  for (const int node : nodes) {
    if (node >= 0) on_node[node]++;
  }
  const double bytes_each = static_cast<double>(pages_of(spans) * kPage) / static_cast<double>(pages.size());
  found.add(on_node, bytes_each, resident_bytes);
  if (rows == nullptr) return;
  mlrun_page_sample row{};
  row.monotonic_ns = now_ns;
  row.host_pid = pid;
  row.rule = static_cast<__s16>(rule);
  add_rows(row, pages, nodes, bytes_each, resident_bytes, *rows);
}

// The mappings of a process could not be read. True: mlrun may not read them; false: the process has ended.
bool is_refused(uint32_t pid) {
  const util::UniqueFd maps(::open(fmt::format("/proc/{}/maps", pid).c_str(), O_RDONLY | O_CLOEXEC));
  return !maps.valid() && (errno == EACCES || errno == EPERM);
}

void sample_heaps(const HeapPlace& place, uint32_t rules, FoundPages& found, PageRows* rows) {
  const std::vector<Mapping> all = mappings_of(place.pid, "");
  const std::vector<PlacedMapping> mappings = newest(place.mappings);
  const uint64_t resident_bytes = resident_bytes_of(place.pid);
  if (all.empty() ? !is_refused(place.pid) : !has_slot(all, place)) return;
  const uint64_t each = place.window_bytes / MLRUN_PLACE_SEGMENT / rules * MLRUN_PLACE_SEGMENT;
  for (uint32_t rule = 0; rule < rules; rule++) {
    std::vector<Span> spans;
    for (const Mapping& mapping : all) {
      if (each != 0) add_part(mapping, place.window + rule * each, place.window + (rule + 1) * each, spans);
      for (const PlacedMapping& one : mappings) {
        if (one.rule == rule && is_memory(mapping)) add_part(mapping, one.start, one.end, spans);
      }
    }
    if (spans.empty() && !all.empty()) continue;
    PagesFound& pages = found.by_number_and_rule[{place.number, rule}];
    if (all.empty()) pages.error = EACCES;
    sample(place.pid, spans, pages_at_once(spans, resident_bytes), resident_bytes, pages, rows, static_cast<int>(rule));
  }
}

// An entry is made once a page was found: most files are mapped and hardly read.
void sample_file(uint32_t pid, const std::string& file, const std::vector<Span>& spans, uint64_t resident_bytes,
                 FoundPages& found) {
  const auto known = found.by_process_and_file.find({pid, file});
  PagesFound fresh;
  PagesFound& pages = known == found.by_process_and_file.end() ? fresh : known->second;
  sample(pid, spans, kPagesOfAFile, resident_bytes, pages);
  if (fresh.sampled.empty()) return;
  if (found.has_room(pid, file))
    found.by_process_and_file[{pid, file}] = std::move(fresh);
  else
    found.left_out.insert(pid);
}

void sample_process(uint32_t pid, const std::string& arena, FoundPages& found, PageRows* rows) {
  const std::vector<Mapping> all = mappings_of(pid, arena);
  const Span window = window_in(all);
  std::vector<Span> own;
  std::map<std::string, std::vector<Span>> files;
  for (const Mapping& mapping : all) {
    if (is_memory(mapping)) add_outside(mapping.span, window.start, window.end, own);
    if (!mapping.file.empty()) add_outside(mapping.span, window.start, window.end, files[mapping.file]);
  }
  auto& pages = found.by_process_and_file;
  if (all.empty() && is_refused(pid)) pages[{pid, ""}].error = EACCES;
  const uint64_t resident_bytes = resident_bytes_of(pid);
  if (!own.empty()) sample(pid, own, pages_at_once(own, resident_bytes), resident_bytes, pages[{pid, ""}], rows);
  std::vector<std::pair<uint64_t, std::string>> largest;
  for (const auto& [file, spans] : files) {
    if (pages_of(spans) >= kPagesOfAFile) largest.emplace_back(pages_of(spans), file);
  }
  std::sort(largest.rbegin(), largest.rend());
  for (size_t i = 0; i < std::min(largest.size(), kFilesAtOnce); i++)
    sample_file(pid, largest[i].second, files[largest[i].second], resident_bytes, found);
}

void look_for_library(uint32_t pid, FoundPages& found) {
  const std::vector<Mapping> all = mappings_of(pid, "");
  if (all.empty()) return;  // it has ended, or mlrun may not read them
  if (has_library(all))
    found.without_library.erase(pid);
  else if (found.without_library.size() < kFoundMax || found.without_library.contains(pid))
    found.without_library[pid]++;
}

}  // namespace

size_t FoundPages::count_without_rules() const {
  return static_cast<size_t>(std::count_if(without_library.begin(), without_library.end(),
                                           [](const auto& one) { return one.second >= kSeenLeast; }));
}

bool FoundPages::has_room(uint32_t pid, const std::string& file) const {
  return files_elsewhere + by_process_and_file.size() < kFoundMax || by_process_and_file.contains({pid, file});
}

void FoundPages::sum_up(const std::set<uint32_t>& numbers) {
  for (const uint32_t number : numbers) {
    auto found = by_number_and_rule.lower_bound({number, 0});
    while (number != 0 && found != by_number_and_rule.end() && found->first.first == number) {
      by_number_and_rule[{0, found->first.second}].add(found->second);
      found = by_number_and_rule.erase(found);
    }
  }
}

void FoundPages::sum_up_ended(const std::vector<uint32_t>& alive) {
  auto& all = by_process_and_file;
  if (all.size() <= kFoundMax / 2) return;
  const std::set<uint32_t> pids(alive.begin(), alive.end());
  ended_left_out += std::erase_if(left_out, [&](uint32_t pid) { return !pids.contains(pid); });
  std::vector<std::map<std::pair<uint32_t, std::string>, PagesFound>::iterator> ended;
  for (auto one = all.begin(); one != all.end(); ++one) {
    if (one->first.first != 0 && !pids.contains(one->first.first)) ended.push_back(one);
  }
  std::ranges::sort(ended, {}, [](const auto& one) { return one->second.full_bytes; });
  for (const auto& one : ended) {
    if (all.size() <= kFoundMax / 2) break;
    const std::string& file = one->first.second;
    const bool has_name = !file.empty() && file != model::Placement::kSharedMemory;
    all[{0, has_name ? model::Placement::kOtherFiles : file}].add(one->second);
    all.erase(one);
  }
}

FoundPages FoundPages::part(const std::set<uint32_t>& numbers, const std::set<uint32_t>& pids) const {
  FoundPages result;
  for (const uint32_t number : numbers) {
    for (auto one = by_number_and_rule.lower_bound({number, 0});
         one != by_number_and_rule.end() && one->first.first == number; ++one)
      result.by_number_and_rule.insert(*one);
  }
  for (const uint32_t pid : pids) {
    for (auto one = by_process_and_file.lower_bound({pid, ""});
         one != by_process_and_file.end() && one->first.first == pid; ++one)
      result.by_process_and_file.insert(*one);
  }
  result.files_elsewhere = by_process_and_file.size() - result.by_process_and_file.size();
  result.without_library = without_library;
  return result;
}

void FoundPages::take(FoundPages part, const std::set<uint32_t>& summed) {
  for (auto& [where, pages] : part.by_number_and_rule) {
    if (!summed.contains(where.first)) by_number_and_rule[where] = std::move(pages);
  }
  for (auto& [where, pages] : part.by_process_and_file) by_process_and_file[where] = std::move(pages);
  left_out.merge(part.left_out);
  without_library = std::move(part.without_library);
}

std::vector<uint64_t> choose_pages(const std::vector<Span>& spans, size_t most) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const uint64_t total = pages_of(spans);
  const size_t count = std::min<uint64_t>(total, most);
  const auto draw = [&](size_t part) {
    const uint64_t low = total * part / count, high = total * (part + 1) / count;
    return low + random() % std::max<uint64_t>(high - low, 1);
  };
  std::vector<uint64_t> pages;
  if (count == 0) return pages;
  uint64_t before = 0;
  uint64_t at = draw(0);  // once for each part: drawing again in the next span would favour spans in which a part ends
  for (const Span& span : spans) {
    const uint64_t size = (span.end - span.start) / kPage;
    while (pages.size() < count && at < before + size) {
      pages.push_back(span.start + (at - before) * kPage);
      at = draw(pages.size());
    }
    before += size;
  }
  return pages;
}

std::vector<PlacedMapping> newest(const std::vector<PlacedMapping>& mappings) {
  std::vector<PlacedMapping> kept;
  for (const PlacedMapping& one : mappings) {
    std::vector<Span> parts = {{one.start, one.end}};
    for (const PlacedMapping& newer : kept) {
      if (newer.start < one.end && one.start < newer.end) parts = without(parts, newer.start, newer.end);
    }
    for (const Span& part : parts) kept.push_back({one.rule, part.start, part.end});
  }
  return kept;
}

struct PageSampler::State : util::SamplerShared {
  State(uint32_t number, std::string buffer, bool keeps) : rules(number), arena(std::move(buffer)), keeps_rows(keeps) {}

  const uint32_t rules;
  const std::string arena;
  const bool keeps_rows;
  SampledMemory targets;
  size_t next_heap = 0, next_process = 0, next_alive = 0;
  FoundPages found;
  PageRows rows;              // until they are fetched
  std::set<uint32_t> summed;  // numbers, since the last turn() began

  // Those whose turn it is.
  SampledMemory turn() {
    SampledMemory now;
    for (size_t i = 0; i < std::min(targets.heaps.size(), kProcessesAtOnce); i++)
      now.heaps.push_back(targets.heaps[next_heap++ % targets.heaps.size()]);
    for (size_t i = 0; i < std::min(targets.processes.size(), kProcessesAtOnce); i++)
      now.processes.push_back(targets.processes[next_process++ % targets.processes.size()]);
    for (size_t i = 0; i < std::min(targets.alive.size(), kProcessesAtOnce); i++)
      now.alive.push_back(targets.alive[next_alive++ % targets.alive.size()]);
    summed.clear();
    return now;
  }

  [[nodiscard]] FoundPages part(const SampledMemory& now) const {
    std::set<uint32_t> numbers;
    for (const HeapPlace& heap : now.heaps) numbers.insert(heap.number);
    return found.part(numbers, std::set<uint32_t>(now.processes.begin(), now.processes.end()));
  }

  // Samples are added to a part of `found`, which finish() may read meanwhile: a call of the kernel may take long.
  void sample() {
    std::unique_lock<std::mutex> held(mutex);
    uint64_t usual_ns = kFirstPauseNs, pause_ns = kFirstPauseNs;
    uint64_t search_due_ns = util::monotonic_ns() + util::kNsPerS;
    while (!wake.wait_for(held, std::chrono::nanoseconds(pause_ns), [&] { return stop; })) {
      const SampledMemory now = turn();
      FoundPages fresh = part(now);
      PageRows fresh_rows;
      PageRows* const kept = keeps_rows ? &fresh_rows : nullptr;
      held.unlock();
      const uint64_t before_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
      for (const HeapPlace& heap : now.heaps) sample_heaps(heap, rules, fresh, kept);
      for (const uint32_t pid : now.processes) sample_process(pid, arena, fresh, kept);
      const uint64_t sampled_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
      usual_ns = std::min<uint64_t>(usual_ns * 2, util::kNsPerS);
      pause_ns = std::max<uint64_t>(usual_ns, kCostMax * (sampled_ns - before_ns));
      if (util::monotonic_ns() >= search_due_ns) {  // another 1/100: samples are not to wait for this
        for (const uint32_t pid : now.alive) look_for_library(pid, fresh);
        search_due_ns = util::monotonic_ns() + kCostMax * (util::clock_ns(CLOCK_THREAD_CPUTIME_ID) - sampled_ns);
      }
      held.lock();
      found.take(std::move(fresh), summed);
      if (rows.size() < kRowsMax) rows.insert(rows.end(), fresh_rows.begin(), fresh_rows.end());
      found.sum_up_ended(targets.processes);
    }
  }
};

PageSampler::PageSampler(uint32_t rules, const std::string& arena, bool keeps_rows)
    : state_(std::make_shared<State>(rules, arena, keeps_rows)) {
  util::start_sampler_thread(state_, "mlrun-pages", [state = state_] { state->sample(); });
}

PageSampler::~PageSampler() { state_->end(kPagePatience); }

void PageSampler::set_targets(SampledMemory targets) {
  const std::lock_guard<std::mutex> held(state_->mutex);
  state_->targets = std::move(targets);
}

void PageSampler::sum_up(const std::set<uint32_t>& numbers) {
  const std::lock_guard<std::mutex> held(state_->mutex);
  std::erase_if(state_->targets.heaps, [&](const HeapPlace& heap) { return numbers.contains(heap.number); });
  state_->summed.insert(numbers.begin(), numbers.end());
  state_->found.sum_up(numbers);
}

PageRows PageSampler::fetch() {
  const std::lock_guard<std::mutex> held(state_->mutex);
  return std::exchange(state_->rows, {});
}

FoundPages PageSampler::finish(std::string& problem) {
  state_->end(kPagePatience);
  const std::lock_guard<std::mutex> held(state_->mutex);
  problem = state_->problem;
  return state_->found;
}

}  // namespace mlrun::placement
