// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth by Intel PCM: from its server if one runs on this machine, else from its program pcm-memory, which is
// started as a child. Not tested on hardware.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/samplers/machine/bandwidth_reader.h"
#include "runner/samplers/machine/local_http.h"
#include "runner/samplers/machine/pcm_texts.h"
#include "runner/util/text.h"
#include "runner/util/time_units.h"
#include "runner/util/unique_fd.h"

namespace mlrun::machine {

namespace {

constexpr uint64_t kPcmPauseNs = 1'000'000'000;  // server and program sample once a second themselves
constexpr uint16_t kPcmPort = 9738;
constexpr std::chrono::milliseconds kPatience(300);
constexpr int kFailuresMax = 5;  // of the server, one after the other: then it is given up
// After which pcm-memory is given up. It prints its headers with its first line, after a second.
constexpr uint64_t kSilentNs = 5 * kPcmPauseNs;

Result<std::string> get_metrics() { return get_local(kPcmPort, "/metrics", kPatience); }

class PcmServer : public BandwidthReader {
 public:
  bool read(uint64_t now_ns, std::vector<BandwidthReading>& readings) override {
    if (now_ns < next_ns_) return false;
    next_ns_ = now_ns + kPcmPauseNs;
    const auto text = get_metrics();
    if (text) readings = parse_pcm_metrics(*text);
    failures_ = readings.empty() ? failures_ + 1 : 0;
    if (failures_ >= kFailuresMax)
      end_ = fmt::format("no readings {} times in a row{}{}", failures_, text ? "" : ": ",
                         text ? std::string() : text.error().text);
    return !readings.empty();
  }
  [[nodiscard]] std::string end() const override { return end_; }
  [[nodiscard]] mlrun_bandwidth_source source() const override { return MLRUN_BANDWIDTH_PCM_SERVER; }
  [[nodiscard]] std::string text() const override {
    return "DRAM, PMEM and writes to CXL of each socket, once a second";
  }

 private:
  uint64_t next_ns_ = 0;
  int failures_ = 0;
  std::string end_;
};

std::string find_program(const std::vector<std::string_view>& names) {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : util::split(path == nullptr ? "" : path, ":")) {
    for (const std::string_view name : names) {
      std::string program = fmt::format("{}/{}", folder, name);
      if (::access(program.c_str(), X_OK) == 0) return program;
    }
  }
  return {};
}

// Runs pcm-memory as a child, which is ended with this object.
class PcmMemory : public BandwidthReader {
 public:
  explicit PcmMemory(std::string program) : program_(std::move(program)) {}
  ~PcmMemory() override {
    if (pid_ <= 0) return;
    constexpr int kTries = 50;
    constexpr useconds_t kPauseUs = 10'000;
    ::kill(pid_, SIGTERM);  // pcm-memory then releases the hardware counters
    output_.reset();
    for (int i = 0; i < kTries; ++i, ::usleep(kPauseUs)) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
    }
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  Status start() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail("cannot create a pipe");
    output_.reset(ends[0]);
    const util::UniqueFd write_end(ends[1]);
    // Only the read end: the program would give up its output for good at the first write that finds the pipe full.
    if (::fcntl(output_.get(), F_SETFL, O_NONBLOCK) != 0) return fail("cannot set up a pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);  // our thread blocks all signals
    ::posix_spawnattr_setpgroup(&attributes, 0);       // so that Ctrl-C, which is for the command, does not reach it
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    const char* arguments[] = {program_.c_str(), "1", "-csv", nullptr};
    const int error =
        ::posix_spawn(&pid_, program_.c_str(), &actions, &attributes, const_cast<char**>(arguments), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return {};
    pid_ = 0;
    return fail(fmt::format("{} cannot be started: {}", program_, std::strerror(error)));
  }

  // Each line of pcm-memory has the rates of the second before it. Lines that are read at once share the time since the previous ones.
  bool read(uint64_t now_ns, std::vector<BandwidthReading>& readings) override {
    std::array<char, 16384> piece;
    ssize_t got = 0;
    while ((got = ::read(output_.get(), piece.data(), piece.size())) > 0)
      text_.append(piece.data(), static_cast<size_t>(got));
    std::vector<std::vector<BandwidthReading>> lines;
    size_t begin = 0;
    for (size_t end = 0; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (csv_.take(std::string_view(text_).substr(begin, end - begin))) lines.push_back(csv_.readings());
    }
    text_.erase(0, begin);
    if (first_ns_ == 0) first_ns_ = now_ns;
    add(lines, now_ns);
    if (got == 0) {
      end_ = fmt::format("{0} has ended; '{0} 1 -csv' shows why", program_);
    } else if (now_ns - std::max(first_ns_, before_ns_) > kSilentNs) {
      end_ = fmt::format("{} printed no {} {} s", program_, csv_.has_columns() ? "values for" : "known header within",
                         kSilentNs / 1'000'000'000);
    }
    if (!lines.empty()) readings = totals_;
    return !lines.empty();
  }
  [[nodiscard]] std::string end() const override { return end_; }
  [[nodiscard]] mlrun_bandwidth_source source() const override { return MLRUN_BANDWIDTH_PCM_MEMORY; }
  [[nodiscard]] std::string text() const override {
    return fmt::format("{}: DRAM, PMEM and CXL, by channel, once a second{}", program_,
                       csv_.has_columns() ? "" : "; it has printed no headers so far");
  }

 private:
  void add(const std::vector<std::vector<BandwidthReading>>& lines, uint64_t now_ns) {
    if (lines.empty()) return;
    const double seconds =
        before_ns_ == 0 ? 1 : util::in_seconds(now_ns - before_ns_) / static_cast<double>(lines.size());
    before_ns_ = now_ns;
    for (const std::vector<BandwidthReading>& rates : lines) add(rates, seconds);
  }
  void add(const std::vector<BandwidthReading>& rates, double seconds) {
    if (totals_.size() != rates.size()) totals_ = rates;
    for (size_t i = 0; i < rates.size(); ++i) {
      for (size_t field = 0; field < rates[i].values.size(); ++field) {
        const int64_t rate = rates[i].values[field];
        int64_t& total = totals_[i].values[field];
        if (rate != MLRUN_NOT_KNOWN)
          total = (total == MLRUN_NOT_KNOWN ? 0 : total) + static_cast<int64_t>(static_cast<double>(rate) * seconds);
      }
    }
  }

  std::string program_;
  pid_t pid_ = 0;
  util::UniqueFd output_;
  std::string text_;
  PcmCsv csv_;
  std::vector<BandwidthReading> totals_;
  uint64_t before_ns_ = 0;  // when the last line was read; 0: none came
  uint64_t first_ns_ = 0;   // of the first call of read()
  std::string end_;
};

}  // namespace

OpenedReader open_pcm_server(const Places& /*places*/) {
  const auto text = get_metrics();
  if (!text) return tl::make_unexpected(text.error());
  if (parse_pcm_metrics(*text).empty())
    return fail(fmt::format("the server on port {} reports no DRAM_Reads of a socket", kPcmPort));
  return std::make_unique<PcmServer>();
}

// Does not wait for the program, which may end at once: end() says so later.
OpenedReader open_pcm_memory(const Places& places) {
  const std::string program = find_program({"pcm-memory", "pcm-memory.x"});
  if (program.empty()) return fail("neither pcm-memory nor pcm-memory.x is in PATH");
  if (::access((places.dev + "/cpu/0/msr").c_str(), R_OK) != 0)
    return fail(program + " needs root and the msr module (modprobe msr)");
  auto reader = std::make_unique<PcmMemory>(program);
  if (Status started = reader->start(); !started) return tl::make_unexpected(started.error());
  return reader;
}

}  // namespace mlrun::machine
