// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/damon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/samplers/access/page_bits.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

namespace mlrun::access {

namespace {

// Period of the checks: an access is seen if its translation stays in the TLB for less than this.
constexpr uint64_t kSampleUs = 20'000, kUpdateUs = 1'000'000;
// With the kernel's default minimum of 10 regions, a hot tenth of a block is never found. The kernel stops splitting above half of the maximum.
constexpr int kRegionsMin = 500, kRegionsMax = 1500;
struct Attribute {
  const char* name;
  uint64_t value;
};
// Of every context of mlrun's, beside the length of its windows. The maximum is written first, since the kernel refuses a minimum above it.
constexpr std::array<Attribute, 4> kAttributes = {{{"intervals/sample_us", kSampleUs},
                                                   {"intervals/update_us", kUpdateUs},
                                                   {"nr_regions/max", kRegionsMax},
                                                   {"nr_regions/min", kRegionsMin}}};
constexpr const char* kAttributesAt = "0/contexts/0/monitoring_attrs/";
constexpr size_t kTargetsMax = 16, kPendingMax = 1 << 20;
constexpr uint64_t kRegionUnit = 4096, kLeastPiece = 64 << 10;
constexpr uint64_t kWindowsKept = 4;  // least number of windows between two starts of DAMON; fewer at first
constexpr double kMoved = 0.05;       // when this share of the memory is in no region, DAMON is started again

// Writes `text` into a file of sysfs or tracefs. Returns errno; 0: written.
int put(const std::string& path, std::string_view text) {
  const util::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return errno;
  return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

bool take_number(std::string_view& text, std::string_view before, uint64_t& value) {
  if (!text.starts_with(before)) return false;
  text.remove_prefix(before.size());
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return true;
}

// A line of the tracepoint: "kdamond.0-77 [001] ... 123.456789: damon_aggregated: target_id=0 nr_regions=12 4096-8192: 3 1".
struct Aggregated {
  std::string_view thread;  // 77: id of the kernel thread; lines of other threads are not ours
  uint64_t seconds = 0, microseconds = 0;
  uint64_t target = 0, regions = 0, start = 0, end = 0, accesses = 0;
};
bool parse_aggregated(std::string_view line, Aggregated& found) {
  const size_t at = line.find("damon_aggregated: target_id=");
  if (at == std::string_view::npos || at < 2) return false;
  const std::string_view head = line.substr(0, line.find(" ["));
  found.thread = head.substr(std::min(head.size(), head.rfind('-') + 1));
  while (found.thread.ends_with(' ')) found.thread.remove_suffix(1);
  std::string_view moment = line.substr(0, at - 2);
  moment.remove_prefix(moment.rfind(' ') + 1);
  if (!take_number(moment, "", found.seconds) || !take_number(moment, ".", found.microseconds)) return false;
  line.remove_prefix(at);
  return take_number(line, "damon_aggregated: target_id=", found.target) &&
         take_number(line, " nr_regions=", found.regions) && take_number(line, " ", found.start) &&
         take_number(line, "-", found.end) && take_number(line, ": ", found.accesses);
}

// The number in a line such as "CPU:0 [LOST 12 EVENTS]". 1 if the kernel does not know it ("[LOST EVENTS]"); 0: it is another line.
uint64_t lost_events(std::string_view line) {
  const size_t at = line.find(" [LOST ");
  if (!line.starts_with("CPU:") || at == std::string_view::npos) return 0;
  return std::max<uint64_t>(util::leading_number<uint64_t>(line.substr(at + 7)), 1);
}

uint64_t bytes_of(const std::vector<Mapping>& mappings) {
  uint64_t bytes = 0;
  for (const Mapping& mapping : mappings) bytes += mapping.bytes();
  return bytes;
}

// The mappings of a process without small ones, of which there may be thousands.
std::vector<Mapping> large_mappings(uint32_t pid) {
  std::vector<Mapping> mappings = read_maps(static_cast<pid_t>(pid));
  std::erase_if(mappings, [](const Mapping& mapping) { return mapping.bytes() < kLeastPiece; });
  return mappings;
}

// Bytes of `mappings` that are not in `others`. Both lists are sorted by address.
uint64_t bytes_outside(const std::vector<Mapping>& mappings, const std::vector<Mapping>& others) {
  uint64_t inside = 0;
  auto other = others.begin();
  for (const Mapping& mapping : mappings) {
    while (other != others.end() && other->end <= mapping.start) ++other;
    for (auto at = other; at != others.end() && at->start < mapping.end; ++at)
      inside += std::min(mapping.end, at->end) - std::max(mapping.start, at->start);
  }
  return bytes_of(mappings) - inside;
}

uint64_t number_in(const std::string& path) { return util::leading_number<uint64_t>(util::read_line(path)); }

bool is_configured(const DamonPlaces& places) { return number_in(places.admin + "/nr_kdamonds") != 0; }

bool has_values_of_mlrun(const DamonPlaces& places) {
  return number_in(places.admin + "/nr_kdamonds") == 1 &&
         std::all_of(kAttributes.begin(), kAttributes.end(), [&](const Attribute& attribute) {
           return number_in(fmt::format("{}/{}{}", places.admin, kAttributesAt, attribute.name)) == attribute.value;
         });
}

std::string configured_by_another(const DamonPlaces& places) {
  return fmt::format("DAMON is configured by another program; if that has ended, write 0 to {}/nr_kdamonds",
                     places.admin);
}

// Tracing instances of mlruns that were killed while they used DAMON.
std::vector<std::string> leftover_instances(const DamonPlaces& places) {
  constexpr std::string_view kName = "mlrun-";
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(places.tracing + "/instances", ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kName)) continue;
    const auto pid = util::leading_number<pid_t>(std::string_view(name).substr(kName.size()));
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) found.push_back(entry.path());
  }
  return found;
}

// Whether the configuration is what an mlrun that was killed has left. Another program may have made one since.
bool is_leftover(const DamonPlaces& places) {
  return !leftover_instances(places).empty() && has_values_of_mlrun(places);
}

// Requires: a context is configured. `operation`: vaddr (a process's memory), or fvaddr (fixed regions of it).
bool knows_operation(const DamonPlaces& places, std::string_view operation) {
  const std::string known = "\n" + util::read_text(places.admin + "/0/contexts/0/avail_operations", 4096);
  return known.find(fmt::format("\n{}\n", operation)) != std::string::npos;
}

class DamonRung : public Rung {
 public:
  DamonRung(DamonPlaces places, uint64_t window_ns) : places_(std::move(places)), window_ns_(window_ns) {
    facts_.cost = fmt::format("a thread of the kernel checks up to {} regions of a process every {} ms", kRegionsMax,
                              kSampleUs / 1000);
  }
  ~DamonRung() override {
    stop();
    pipe_.reset();
    if (!instance_.empty()) ::rmdir(instance_.c_str());
  }

  // Changes the system, so that `mlrun doctor`, which only makes the rung, does not.
  std::string attach(pid_t /*command*/) override {
    remove_leftovers();
    // "mono": the time stamps of trace_pipe are CLOCK_MONOTONIC.
    instance_ = fmt::format("{}/instances/mlrun-{}", places_.tracing, ::getpid());
    ::mkdir(instance_.c_str(), 0700);
    put(instance_ + "/trace_clock", "mono");
    put(instance_ + "/events/damon/damon_aggregated/enable", "1");
    pipe_ = util::UniqueFd(::open((instance_ + "/trace_pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    return pipe_.valid() ? "" : fmt::format("{}/trace_pipe cannot be read: {}", instance_, std::strerror(errno));
  }

  void watch(const std::vector<uint32_t>& host_pids) override {
    std::vector<uint32_t> pids = host_pids;
    if (pids.size() > kTargetsMax) {
      facts_.left_out = std::max<uint64_t>(facts_.left_out, pids.size() - kTargetsMax);
      pids.resize(kTargetsMax);
    }
    pids_ = std::move(pids);
    failures_ = 0;
    for (Target& target : targets_) {
      const bool is_there = std::find(host_pids.begin(), host_pids.end(), target.pid) != host_pids.end();
      if (!is_there && target.ended_ns == 0) target.ended_ns = util::monotonic_ns();
    }
  }

  // Processes that have ended stay among DAMON's targets, and the kernel goes on reporting their regions. A new process, or much new memory, makes a new start of DAMON necessary. It loses the
  // regions that DAMON has found, so there are at least kWindowsKept windows between two starts.
  uint64_t sample(uint64_t now_ns, Rows& rows) override {
    if (before_ns_ != 0) facts_.all_ns += now_ns - before_ns_;
    if (before_ns_ != 0 && runs_) facts_.on_ns += now_ns - before_ns_;
    before_ns_ = now_ns;
    drain(rows);
    if (runs_ && now_ns >= started_ns_ + std::min<uint64_t>(facts_.samples, kWindowsKept) * window_ns_ &&
        needs_start()) {
      stop();
      drain(rows);  // before start() changes the targets to which the lines refer
    }
    if (!runs_ && !pids_.empty() && facts_.problem.empty() && now_ns >= try_ns_) start(now_ns);
    return now_ns + std::min<uint64_t>(window_ns_, 100'000'000);
  }

  [[nodiscard]] model::MemoryAccess::Rung facts() const override { return facts_; }

 private:
  // What an mlrun that was killed has left. The instances go last: they show whose the configuration is.
  void remove_leftovers() const {
    if (is_leftover(places_)) put(places_.admin + "/nr_kdamonds", "0");  // fails while DAMON is on
    for (const std::string& instance : leftover_instances(places_)) ::rmdir(instance.c_str());
  }

  void write(const std::string& name, const std::string& text) {
    const std::string path = places_.admin + "/" + name;
    const int error = put(path, text);
    if (error != 0 && failed_.empty()) failed_ = fmt::format("{}: {}", path, std::strerror(error));
  }

  // Sets the initial regions: the process's mappings in pieces of equal size. By default the kernel begins with three regions, which also span
  // unmapped addresses between mappings. A mapping without resident pages costs little.
  void write_regions(const std::string& target, const std::vector<Mapping>& mappings) {
    const uint64_t each = std::max(kLeastPiece, bytes_of(mappings) / (kRegionsMin * kRegionUnit) * kRegionUnit);
    std::vector<std::pair<uint64_t, uint64_t>> pieces;
    for (const Mapping& mapping : mappings) {
      for (uint64_t at = mapping.start; at < mapping.end; at += each)
        pieces.emplace_back(at, std::min(mapping.end, at + each));
    }
    write(target + "/regions/nr_regions", std::to_string(pieces.size()));
    for (size_t i = 0; i < pieces.size() && failed_.empty(); i++) {
      write(fmt::format("{}/regions/{}/start", target, i), std::to_string(pieces[i].first));
      write(fmt::format("{}/regions/{}/end", target, i), std::to_string(pieces[i].second));
    }
  }

  struct Target {
    uint32_t pid;
    std::vector<Mapping> mapped;  // at DAMON's start
    uint64_t ended_ns = 0;        // when it was no longer among the processes to monitor; 0: it is
  };

  [[nodiscard]] bool needs_start() const {
    for (const uint32_t pid : pids_) {
      const auto target = std::find_if(targets_.begin(), targets_.end(), [&](const Target& one) {
        return one.pid == pid && one.ended_ns == 0;  // else the pid is that of a new process
      });
      if (target == targets_.end()) return true;
      if (!is_fixed_) continue;
      const std::vector<Mapping> now = large_mappings(pid);
      const auto outside = static_cast<double>(bytes_outside(now, target->mapped));
      if (outside > kMoved * static_cast<double>(bytes_of(now))) return true;
    }
    return false;
  }

  // Starts DAMON. If this fails, for example because a process has ended meanwhile, it is tried again later.
  void start(uint64_t now_ns) {
    failed_.clear();
    try_ns_ = now_ns + kRetryNs;
    if (!owns_kdamond_ && is_configured(places_)) {  // the write would remove what is off
      failed_ = configured_by_another(places_);
      if (facts_.samples == 0 && ++failures_ > kFailuresMax) facts_.problem = failed_;
      return;
    }
    write("nr_kdamonds", "1");
    owns_kdamond_ = failed_.empty();
    write("0/contexts/nr_contexts", "1");
    is_fixed_ = knows_operation(places_, "fvaddr");
    targets_.clear();
    for (const uint32_t pid : pids_) {
      std::vector<Mapping> mappings = large_mappings(pid);
      if (mappings.empty()) continue;  // the process has ended, or has not begun
      targets_.push_back({pid, std::move(mappings)});
    }
    if (targets_.empty()) return;
    const std::string context = "0/contexts/0/";
    write(context + "operations", is_fixed_ ? "fvaddr" : "vaddr");
    write(kAttributesAt + std::string("intervals/aggr_us"), std::to_string(window_ns_ / 1000));
    for (const Attribute& attribute : kAttributes)
      write(kAttributesAt + std::string(attribute.name), std::to_string(attribute.value));
    write(context + "targets/nr_targets", std::to_string(targets_.size()));
    for (size_t i = 0; i < targets_.size(); i++) {
      const std::string target = fmt::format("{}targets/{}", context, i);
      write(target + "/pid_target", std::to_string(targets_[i].pid));
      if (is_fixed_) write_regions(target, targets_[i].mapped);
    }
    write("0/state", "on");
    runs_ = failed_.empty();
    if (runs_) {
      thread_ = util::read_line(places_.admin + "/0/pid");
      started_ns_ = now_ns;
      facts_.samples++;
      return;
    }
    if (facts_.samples == 0 && ++failures_ > kFailuresMax) facts_.problem = failed_;
  }

  void stop() {
    if (runs_) put(places_.admin + "/0/state", "off");
    if (owns_kdamond_) put(places_.admin + "/nr_kdamonds", "0");
    runs_ = owns_kdamond_ = false;
  }

  void drain(Rows& rows) {
    std::array<char, 65536> piece{};
    for (;;) {
      const ssize_t got = ::read(pipe_.get(), piece.data(), piece.size());
      if (got <= 0) break;
      pending_.append(piece.data(), static_cast<size_t>(got));
      const size_t whole = pending_.rfind('\n');
      if (whole != std::string::npos) {
        for (const std::string_view line : util::split(std::string_view(pending_).substr(0, whole), "\n"))
          add(line, rows);
        pending_.erase(0, whole + 1);
      }
      if (pending_.size() <= kPendingMax) continue;
      facts_.lost++;  // a line without an end
      pending_.clear();
    }
  }

  void add(std::string_view line, Rows& rows) {
    facts_.lost += lost_events(line);
    Aggregated found;
    if (!parse_aggregated(line, found) || found.target >= targets_.size() || found.end <= found.start) return;
    if (found.thread != thread_) return;  // other users of DAMON, such as DAMON_RECLAIM
    mlrun_access_sample row{};
    row.monotonic_ns = found.seconds * 1'000'000'000 + found.microseconds * 1000;
    row.interval_ns = window_ns_;
    const Target& target = targets_[found.target];
    if (target.ended_ns != 0 && row.monotonic_ns > target.ended_ns) return;
    row.host_pid = target.pid;
    row.address = found.start;
    row.bytes = found.end - found.start;
    row.touched_bytes = found.accesses > 0 ? row.bytes : 0;
    row.resident_bytes = row.bytes;
    row.count = found.accesses;
    row.count_max = window_ns_ / (kSampleUs * 1000);
    row.cpu = -1;
    row.rung = MLRUN_ACCESS_DAMON;
    row.kind = MLRUN_ACCESS_TOUCHED;
    rows.push_back(row);
  }

  static constexpr uint64_t kRetryNs = 100'000'000;
  static constexpr int kFailuresMax = 20;

  DamonPlaces places_;
  uint64_t window_ns_, before_ns_ = 0, started_ns_ = 0, try_ns_ = 0;
  std::string instance_, pending_, failed_, thread_;
  util::UniqueFd pipe_;
  std::vector<uint32_t> pids_;   // to monitor
  std::vector<Target> targets_;  // that DAMON monitors
  bool runs_ = false, is_fixed_ = false;
  bool owns_kdamond_ = false;  // this run wrote DAMON's configuration and must remove it
  int failures_ = 0;
  model::MemoryAccess::Rung facts_;
};

}  // namespace

std::string damon_problem(const DamonPlaces& places) {
  if (::access(places.admin.c_str(), F_OK) != 0) return "this kernel has no DAMON (CONFIG_DAMON_SYSFS)";
  if (::access((places.admin + "/nr_kdamonds").c_str(), W_OK) != 0) return "DAMON needs root";
  std::string problem;
  const bool is_free = !is_configured(places);
  if (!is_free && (!is_leftover(places) || util::read_line(places.admin + "/0/state") == "on"))
    return configured_by_another(places);
  if (is_free) {  // the kernel lists what DAMON can monitor only in a context, so one is made and removed again
    put(places.admin + "/nr_kdamonds", "1");
    put(places.admin + "/0/contexts/nr_contexts", "1");
  }
  if (!knows_operation(places, "vaddr"))
    problem = "this kernel's DAMON cannot monitor virtual addresses (CONFIG_DAMON_VADDR)";
  if (is_free) put(places.admin + "/nr_kdamonds", "0");
  if (problem.empty() && ::access((places.tracing + "/events/damon/damon_aggregated").c_str(), F_OK) != 0)
    problem = "DAMON's tracepoint is missing: mount tracefs at " + places.tracing;
  return problem;
}

std::unique_ptr<Rung> make_damon_rung(const DamonPlaces& places, uint64_t window_ns) {
  return std::make_unique<DamonRung>(places, window_ns);
}

}  // namespace mlrun::access
