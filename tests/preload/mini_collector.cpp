// SPDX-License-Identifier: Apache-2.0
#include "tests/preload/mini_collector.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <set>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "preload/core/call_kind.h"

namespace mlrun::preload_test {
namespace {

constexpr uint64_t kSecond = 1000000000;
constexpr uint64_t kParkedFor = 10 * kSecond;

uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * kSecond + static_cast<uint64_t>(t.tv_nsec);
}

template <typename T>
T load(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

long futex(uint32_t* word, int operation, uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, word, operation, value, timeout, nullptr, 0);
}

struct SegmentState {
  uint32_t owner = 0, offset = 0;
  uint64_t looked_at = 0, parked_until = 0;
  bool holed = false, parked = false;
};

class MiniCollector {
 public:
  MiniCollector(const RunOptions& options, MiniArena& arena, Totals& totals)
      : options_(options), arena_(arena), totals_(totals), states_(arena.control().segment_count) {}

  // One pass over everything. Returns the number of segments freed.
  uint64_t pass();
  void sleep(std::chrono::microseconds time);
  [[nodiscard]] uint64_t live_channels() const;
  void finish();

 private:
  void look_for_dead();
  bool drain(uint32_t segment);
  uint32_t walk(uint32_t segment, uint32_t offset, uint8_t lap);
  void skip_holes(uint32_t segment, bool gone, bool newest);
  void release(uint32_t segment);
  void park(uint32_t segment);
  void take_counts(const mlrun_channel& channel);
  void free_dead_channels();
  template <typename F>
  void for_each_channel(F visit) const;

  const RunOptions& options_;
  MiniArena& arena_;
  Totals& totals_;
  std::vector<SegmentState> states_;
  std::set<uint32_t> dead_, owning_;
  std::unordered_map<uint32_t, uint64_t> newest_header_;  // clock of a channel's last segment
  uint64_t now_ = 0, parked_now_ = 0;
};

template <typename F>
void MiniCollector::for_each_channel(F visit) const {
  const uint32_t high = std::min(load(arena_.control().segment_high), arena_.control().segment_count);
  for (uint32_t i = 0; i < high; i++) {
    if ((load(arena_.owner(i)) & MLRUN_OWNER_MASK) != MLRUN_OWNER_DESCRIPTORS) continue;
    for (uint32_t slot = 1; slot <= MLRUN_CHANNELS_PER_SEGMENT; slot++) {
      mlrun_channel* channel = arena_.channel(i * 16 + slot);
      if (load(channel->state) == MLRUN_CHANNEL_LIVE) visit(i * 16 + slot, *channel);
    }
  }
}

void MiniCollector::look_for_dead() {
  dead_.clear();
  for_each_channel([this](uint32_t id, const mlrun_channel& channel) {
    if ((load(channel.lock) & FUTEX_OWNER_DIED) != 0) dead_.insert(id);
  });
}

uint64_t MiniCollector::live_channels() const {
  uint64_t live = 0;
  for_each_channel([&live](uint32_t, const mlrun_channel&) { live++; });
  return live;
}

uint32_t MiniCollector::walk(uint32_t segment, uint32_t offset, uint8_t lap) {
  const char* base = arena_.segment(segment);
  const uint32_t id = (load(arena_.owner(segment)) & MLRUN_OWNER_MASK) - 1;
  while (offset < MLRUN_SEGMENT_BYTES) {
    const auto* words = reinterpret_cast<const uint64_t*>(base + offset);
    const uint64_t first = load(words[0]);
    if (static_cast<uint8_t>(first) != lap) break;
    const RecordView record{words, id, arena_.channel(id), reinterpret_cast<const mlrun_segment*>(base)->clock};
    if (record.kind() == MLRUN_PAD) return MLRUN_SEGMENT_BYTES;
    const uint32_t bytes = record.units() * MLRUN_UNIT_BYTES;
    if (bytes == 0 || offset + bytes > MLRUN_SEGMENT_BYTES) {
      totals_.broken++;
      return MLRUN_SEGMENT_BYTES;
    }
    totals_.records[record.kind()]++;
    if (options_.on_record) options_.on_record(record);
    offset += bytes;
  }
  return offset;
}

// From the first unfinished unit to the next finished record, again and again. Only in a closed segment is a unit
// without a record behind it a hole, too.
void MiniCollector::skip_holes(uint32_t segment, bool gone, bool newest) {
  SegmentState& s = states_[segment];
  const auto lap = static_cast<uint8_t>(s.owner >> 24);
  const char* base = arena_.segment(segment);
  while (s.offset < MLRUN_SEGMENT_BYTES) {
    uint32_t next = s.offset;
    while (next < MLRUN_SEGMENT_BYTES &&
           static_cast<uint8_t>(load(*reinterpret_cast<const uint64_t*>(base + next))) != lap)
      next += MLRUN_UNIT_BYTES;
    const bool frontier = next == MLRUN_SEGMENT_BYTES;
    if (frontier && (gone || newest)) return;
    totals_.torn++;
    s.holed = true;
    if (frontier) totals_.closed_holes++;
    s.offset = frontier ? next : walk(segment, next, lap);
    if (!gone && newest) return;
  }
}

void MiniCollector::release(uint32_t segment) {
  uint32_t lap = (states_[segment].owner >> 24) + 1;
  if (lap == 256) {
    std::memset(arena_.segment(segment), 0, MLRUN_SEGMENT_BYTES);
    lap = 1;
    totals_.zeroed++;
  }
  if (states_[segment].parked) parked_now_--;
  states_[segment] = {};
  mlrun_control& c = arena_.control();
  __atomic_store_n(&arena_.owner(segment), lap << 24, __ATOMIC_RELEASE);
  __atomic_add_fetch(&c.free_segments_hint, 1, __ATOMIC_ACQ_REL);
  __atomic_add_fetch(&c.space, 1, __ATOMIC_ACQ_REL);
  if (load(c.waiters) != 0) futex(&c.space, FUTEX_WAKE, INT32_MAX, nullptr);
  totals_.recycled++;
}

// The owner of a holed segment may come back to it: a handler that changed segments sits on top of an unfinished
// record.
void MiniCollector::park(uint32_t segment) {
  states_[segment].parked = true;
  states_[segment].parked_until = now_ + kParkedFor;
  parked_now_++;
  totals_.parked++;
}

bool MiniCollector::drain(uint32_t segment) {
  const uint32_t owner = load(arena_.owner(segment)), id = (owner & MLRUN_OWNER_MASK) - 1;
  if ((owner & MLRUN_OWNER_MASK) == 0 || (owner & MLRUN_OWNER_MASK) >= MLRUN_OWNER_PREPARING) return false;
  SegmentState& s = states_[segment];
  if (arena_.channel(id) == nullptr) {
    totals_.broken++;
    return false;
  }
  owning_.insert(id);
  if (s.owner != owner) s = {.owner = owner, .offset = MLRUN_SEGMENT_HEADER_BYTES, .looked_at = now_};
  const auto* header = reinterpret_cast<const mlrun_segment*>(arena_.segment(segment));
  const bool written = load(header->lap) == owner >> 24 && load(header->channel) == id;
  uint64_t& newest = newest_header_[id];
  if (written) newest = std::max<uint64_t>(newest, load(header->clock));
  const bool gone = dead_.count(id) != 0;  // known before the walk, so that the walk sees all its stores
  if (s.parked) {
    if (gone || now_ >= s.parked_until || parked_now_ > arena_.control().segment_count / 4) release(segment);
    return false;
  }
  const uint32_t before = s.offset;
  s.offset = walk(segment, before, static_cast<uint8_t>(owner >> 24));
  if (s.offset != before) s.looked_at = now_;
  if (s.offset < MLRUN_SEGMENT_BYTES && (gone || now_ - s.looked_at > kSecond)) {
    s.looked_at = now_;
    skip_holes(segment, gone, !written || load(header->clock) >= newest);
  }
  const bool full = s.offset == MLRUN_SEGMENT_BYTES;
  if (!full && !gone) return false;
  if (full) std::this_thread::sleep_for(options_.per_segment);
  if (s.holed && !gone)
    park(segment);
  else
    release(segment);
  return true;
}

void MiniCollector::take_counts(const mlrun_channel& channel) {
  for (const auto& kinds : channel.drops)
    for (int i = 0; i < MLRUN_DROPPED_KINDS; i++) totals_.drops[i] += load(kinds[i]);
  for (const mlrun_fine_count& count : channel.fine) {
    totals_.counted_allocs += load(count.allocs);
    totals_.counted_frees += load(count.frees);
  }
  for (const mlrun_coarse_count& count : channel.coarse) {
    totals_.counted_allocs += load(count.allocs);
    totals_.counted_frees += load(count.frees);
    totals_.counted_alloc_bytes += load(count.alloc_bytes);
  }
  totals_.channels++;
}

void MiniCollector::free_dead_channels() {
  for (const uint32_t id : dead_) {
    if (owning_.count(id) != 0) continue;
    mlrun_channel* channel = arena_.channel(id);
    take_counts(*channel);
    newest_header_.erase(id);
    uint32_t& state = channel->state;
    std::memset(static_cast<void*>(channel), 0, offsetof(mlrun_channel, state));
    std::memset(&channel->pid, 0, MLRUN_CHANNEL_BYTES - offsetof(mlrun_channel, pid));
    __atomic_store_n(&state, MLRUN_CHANNEL_FREE, __ATOMIC_RELEASE);
  }
}

uint64_t MiniCollector::pass() {
  now_ = now_ns();
  const uint64_t recycled = totals_.recycled;
  owning_.clear();
  look_for_dead();
  const uint32_t high = std::min(load(arena_.control().segment_high), arena_.control().segment_count);
  for (uint32_t i = 0; i < high; i++) drain(i);
  free_dead_channels();
  __atomic_add_fetch(&arena_.control().heartbeat, 1, __ATOMIC_RELEASE);
  arena_.extend();
  if (options_.on_pass) options_.on_pass(arena_);
  return totals_.recycled - recycled;
}

void MiniCollector::sleep(std::chrono::microseconds time) {
  mlrun_control& c = arena_.control();
  const uint32_t wake = load(c.wake);
  __atomic_store_n(&c.woken, 0, __ATOMIC_RELEASE);
  if (static_cast<int32_t>(load(c.free_segments_hint)) * 2 < static_cast<int32_t>(c.available_segments)) return;
  const timespec timeout{0, time.count() * 1000};
  futex(&c.wake, FUTEX_WAIT, wake, &timeout);
}

void MiniCollector::finish() {
  totals_.live_at_end = live_channels();
  arena_.control().state = MLRUN_STOP;
  pass();
  pass();
  for_each_channel([this](uint32_t, const mlrun_channel& channel) { take_counts(channel); });
  std::copy_n(arena_.control().failures, MLRUN_FAILURES, totals_.failures);
  for (int i = 0; i < MLRUN_DROPPED_KINDS; i++) totals_.drops[i] += load(arena_.control().without_channel[i]);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

pid_t launch(std::vector<std::string> command, const RunOptions& options, const std::string& session, int output) {
  std::vector<char*> arguments = pointers(command);
  const pid_t child = fork();
  if (child != 0) return child;
  dup2(output, 1);
  dup2(output, 2);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  if (options.library != "none") {
    setenv("MLRUN_SESSION", session.c_str(), 1);
    setenv("LD_PRELOAD", options.library.empty() ? preload_library().c_str() : options.library.c_str(), 1);
  }
  execvp(arguments[0], arguments.data());
  _exit(127);
}

std::string read_all(int fd) {
  std::string text(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
  if (pread(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) text.clear();
  return text;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Totals run_traced(const std::vector<std::string>& command, const RunOptions& options) {
  using std::chrono::microseconds;
  Totals totals;
  const double cpu_before = cpu_seconds();
  MiniArena arena(options.arena);
  MiniCollector collector(options, arena, totals);
  const int output = memfd_create("output", MFD_CLOEXEC);
  const pid_t child = launch(command, options, arena.session(), output);
  bool ended = false;
  uint64_t deadline = 0;
  microseconds pause(1000);
  for (;;) {
    const uint64_t full = collector.pass();
    if (!ended && waitpid(child, &totals.status, WNOHANG) == child) {
      ended = true;
      deadline = now_ns() + static_cast<uint64_t>(options.wait_for_descendants.count()) * kSecond;
    }
    if (ended && (collector.live_channels() == 0 || now_ns() > deadline)) break;
    if (full > 8) pause /= 2;
    if (full < 4) pause *= 2;
    pause = ended ? microseconds(1000) : std::clamp(pause, microseconds(1000), microseconds(20000));
    collector.sleep(pause);
  }
  collector.finish();
  totals.output = read_all(output);
  close(output);
  totals.cpu_seconds = cpu_seconds() - cpu_before;
  return totals;
}

std::string fragment_text(const RecordView& record) {
  const char* unit = reinterpret_cast<const char*>(record.words + 2);
  std::string text;
  for (size_t left = record.arg() & 0xffff; left > 0; unit += MLRUN_UNIT_BYTES) {
    const size_t part = std::min<size_t>(left, MLRUN_UNIT_BYTES - 1);
    text.append(unit + 1, part);
    left -= part;
  }
  return text;
}

void OrderCheck::look_at(const RecordView& record) {
  if (record.kind() != KIND_pread) return;
  const uint64_t offset = record.words[5];
  const auto [last, first] = last_.emplace(record.filling, offset);
  wrong_ += !first && offset != last->second + 1 ? 1 : 0;
  last->second = offset;
}

uint64_t Totals::of(uint32_t kind) const {
  const auto found = records.find(kind);
  return found == records.end() ? 0 : found->second;
}

uint64_t Totals::all_records() const {
  uint64_t sum = 0;
  for (const auto& [kind, count] : records) sum += count;
  return sum;
}

uint64_t Totals::all_drops() const {
  uint64_t sum = 0;
  for (const uint64_t count : drops) sum += count;
  return sum;
}

int Totals::exit_code() const { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

long Totals::number(const std::string& name) const {
  const std::string text = " " + output;
  for (size_t at = text.find(name + "="); at != std::string::npos; at = text.find(name + "=", at + 1))
    if (std::isspace(static_cast<unsigned char>(text[at - 1])) != 0)
      return std::stol(text.substr(at + name.size() + 1));
  return -1;
}

std::string victim(const std::string& name) { return std::string(MLRUN_TEST_VICTIMS) + "/" + name; }
std::string preload_library() { return MLRUN_TEST_LIBRARY; }
std::string cupti_library() { return MLRUN_TEST_CUPTI_LIBRARY; }
std::string placement_library() { return MLRUN_TEST_PLACEMENT_LIBRARY; }
std::string points_library() { return MLRUN_TEST_POINTS_LIBRARY; }

}  // namespace mlrun::preload_test
