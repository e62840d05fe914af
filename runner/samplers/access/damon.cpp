// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/damon.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/util/file_io.h"
#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

namespace mlrun::access {

namespace {

constexpr uint64_t kSampleUs = 5000, kUpdateUs = 1'000'000;
constexpr int kRegionsMin = 100, kRegionsMax = 1000;  // with the kernel's 10 a hot tenth of a block is never found
constexpr size_t kTargetsMax = 16, kPendingMax = 1 << 20;

// Returns errno; 0: written.
int put(const std::string& path, std::string_view text) {
  const util::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return errno;
  return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

std::string first_line(const std::string& path) {
  const std::string text = util::read_text(path, 4096);
  return text.substr(0, text.find('\n'));
}

bool take_number(std::string_view& text, std::string_view before, uint64_t& value) {
  if (!text.starts_with(before)) return false;
  text.remove_prefix(before.size());
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return true;
}

// A line of the tracepoint: "... 123.456789: damon_aggregated: target_id=0 nr_regions=12 4096-8192: 3 1".
struct Aggregated {
  uint64_t seconds = 0, microseconds = 0;
  uint64_t target = 0, regions = 0, start = 0, end = 0, accesses = 0;
};
bool parse_aggregated(std::string_view line, Aggregated& found) {
  const size_t at = line.find("damon_aggregated: target_id=");
  if (at == std::string_view::npos || at < 2) return false;
  std::string_view moment = line.substr(0, at - 2);
  moment.remove_prefix(moment.rfind(' ') + 1);
  if (!take_number(moment, "", found.seconds) || !take_number(moment, ".", found.microseconds)) return false;
  line.remove_prefix(at);
  return take_number(line, "damon_aggregated: target_id=", found.target) &&
         take_number(line, " nr_regions=", found.regions) && take_number(line, " ", found.start) &&
         take_number(line, "-", found.end) && take_number(line, ": ", found.accesses);
}

class DamonRung : public Rung {
 public:
  DamonRung(DamonPlaces places, uint64_t window_ns) : places_(std::move(places)), window_ns_(window_ns) {
    facts_.cost = fmt::format("a thread of the kernel checks up to {} regions of a process every {} ms", kRegionsMax,
                              kSampleUs / 1000);
    // The time stamps are those of CLOCK_MONOTONIC.
    instance_ = fmt::format("{}/instances/mlrun-{}", places_.tracing, ::getpid());
    ::mkdir(instance_.c_str(), 0700);
    put(instance_ + "/trace_clock", "mono");
    put(instance_ + "/events/damon/damon_aggregated/enable", "1");
    pipe_ = util::UniqueFd(::open((instance_ + "/trace_pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!pipe_.valid())
      facts_.problem = fmt::format("{}/trace_pipe cannot be read: {}", instance_, std::strerror(errno));
  }
  ~DamonRung() override {
    stop();
    pipe_.reset();
    ::rmdir(instance_.c_str());
  }

  void watch(const std::vector<uint32_t>& host_pids) override {
    std::vector<uint32_t> pids = host_pids;
    if (pids.size() > kTargetsMax) {
      facts_.left_out += pids.size() - kTargetsMax;
      pids.resize(kTargetsMax);
    }
    if (pids == pids_) return;
    stop();
    pids_ = std::move(pids);
  }

  uint64_t look(uint64_t now_ns, Rows& rows) override {
    if (before_ns_ != 0) facts_.all_ns += now_ns - before_ns_;
    if (before_ns_ != 0 && runs_) facts_.on_ns += now_ns - before_ns_;
    before_ns_ = now_ns;
    drain(rows);
    if (!runs_ && !pids_.empty() && facts_.problem.empty()) start();
    return now_ns + std::min<uint64_t>(window_ns_, 100'000'000);
  }

  [[nodiscard]] RungFacts facts() const override { return facts_; }

 private:
  void write(const std::string& name, const std::string& text) {
    const std::string path = places_.admin + "/" + name;
    const int error = put(path, text);
    if (error != 0 && failed_.empty()) failed_ = fmt::format("{}: {}", path, std::strerror(error));
  }

  // A process of the list may have ended meanwhile: then it is tried again with the next list.
  void start() {
    failed_.clear();
    write("nr_kdamonds", "1");
    write("0/contexts/nr_contexts", "1");
    const std::string context = "0/contexts/0/";
    write(context + "operations", "vaddr");
    write(context + "monitoring_attrs/intervals/sample_us", std::to_string(kSampleUs));
    write(context + "monitoring_attrs/intervals/aggr_us", std::to_string(window_ns_ / 1000));
    write(context + "monitoring_attrs/intervals/update_us", std::to_string(kUpdateUs));
    // The maximum first: the minimum must never exceed it.
    write(context + "monitoring_attrs/nr_regions/max", std::to_string(kRegionsMax));
    write(context + "monitoring_attrs/nr_regions/min", std::to_string(kRegionsMin));
    write(context + "targets/nr_targets", std::to_string(pids_.size()));
    for (size_t i = 0; i < pids_.size(); i++)
      write(fmt::format("{}targets/{}/pid_target", context, i), std::to_string(pids_[i]));
    write("0/state", "on");
    targets_ = pids_;
    runs_ = failed_.empty();
    if (runs_) {
      facts_.looks++;
      return;
    }
    pids_.clear();
    if (facts_.looks == 0 && ++failures_ > 20) facts_.problem = failed_;
  }

  void stop() {
    if (!runs_) return;
    put(places_.admin + "/0/state", "off");
    put(places_.admin + "/nr_kdamonds", "0");
    runs_ = false;
  }

  void drain(Rows& rows) {
    std::array<char, 65536> piece{};
    for (;;) {
      const ssize_t got = ::read(pipe_.get(), piece.data(), piece.size());
      if (got <= 0) break;
      pending_.append(piece.data(), static_cast<size_t>(got));
      const size_t whole = pending_.rfind('\n');
      if (whole == std::string::npos) continue;
      for (const std::string_view line : util::split(std::string_view(pending_).substr(0, whole), "\n"))
        add(line, rows);
      pending_.erase(0, whole + 1);
      if (pending_.size() > kPendingMax) pending_.clear();
    }
  }

  void add(std::string_view line, Rows& rows) {
    if (line.find("LOST") != std::string_view::npos) facts_.lost++;
    Aggregated found;
    if (!parse_aggregated(line, found) || found.target >= targets_.size() || found.end <= found.start) return;
    mlrun_access_sample row{};
    row.monotonic_ns = found.seconds * 1'000'000'000 + found.microseconds * 1000;
    row.interval_ns = window_ns_;
    row.host_pid = targets_[found.target];
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

  DamonPlaces places_;
  uint64_t window_ns_, before_ns_ = 0;
  std::string instance_, pending_, failed_;
  util::UniqueFd pipe_;
  std::vector<uint32_t> pids_, targets_;
  bool runs_ = false;
  int failures_ = 0;
  RungFacts facts_;
};

}  // namespace

std::string damon_problem(const DamonPlaces& places) {
  if (::access(places.admin.c_str(), F_OK) != 0) return "this kernel has no DAMON (CONFIG_DAMON_SYSFS)";
  if (::access((places.admin + "/nr_kdamonds").c_str(), W_OK) != 0) return "DAMON needs root";
  if (first_line(places.admin + "/nr_kdamonds") != "0") {
    if (first_line(places.admin + "/0/state") == "on") return "something else uses DAMON";
    put(places.admin + "/nr_kdamonds", "0");
  }
  // Whether virtual addresses can be monitored is known only where a context is made.
  std::string problem;
  put(places.admin + "/nr_kdamonds", "1");
  put(places.admin + "/0/contexts/nr_contexts", "1");
  const std::string known = "\n" + util::read_text(places.admin + "/0/contexts/0/avail_operations", 4096);
  if (known.find("\nvaddr\n") == std::string::npos)
    problem = "this kernel's DAMON knows no virtual addresses (CONFIG_DAMON_VADDR)";
  put(places.admin + "/nr_kdamonds", "0");
  if (problem.empty() && ::access((places.tracing + "/events/damon/damon_aggregated").c_str(), F_OK) != 0)
    problem = "its tracepoint is missing: mount tracefs at " + places.tracing;
  return problem;
}

std::unique_ptr<Rung> make_damon_rung(const DamonPlaces& places, uint64_t window_ns) {
  return std::make_unique<DamonRung>(places, window_ns);
}

}  // namespace mlrun::access
