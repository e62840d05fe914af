// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/measurement.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "runner/launch/environment.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"

namespace mlrun::bench {

namespace {

constexpr size_t kDataBytes = 64 << 10;

struct Cpus {
  int victims = 0;
  cpu_set_t others;  // all other CPUs, for the collector; the victims' CPU if there is only one
};

// The victims get the last CPU of our affinity mask: interrupts tend to go to the first CPU.
Cpus choose_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_SET(0, &allowed);
  Cpus cpus{0, allowed};
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &allowed)) cpus.victims = cpu;
  }
  if (CPU_COUNT(&allowed) > 1) CPU_CLR(cpus.victims, &cpus.others);
  return cpus;
}

struct Pair {
  double untraced_ns, traced_ns;  // per call
};

// An operation, the number of iterations that fill a slice, and the pairs measured so far.
struct Series {
  const Operation* operation;
  long iterations = 0;  // 0: not determined yet
  std::vector<Pair> pairs;
};

class Rounds {
 public:
  // `library` is preloaded into the traced victims.
  Rounds(const Plan& plan, Collection& collection, VictimOptions untraced, std::string library)
      : plan_(plan), collection_(collection), untraced_(std::move(untraced)), library_(std::move(library)) {
    for (const Operation& operation : operations()) {
      if (!plan.quick || operation.quick_pairs > 0) series_.push_back({&operation, 0, {}});
    }
  }

  Status run_round() {
    if (Status room = collection_.make_room(); !room) return room;
    VictimOptions of_traced = untraced_;
    of_traced.environment = launch::traced_environment(environ, library_, collection_.session_variable(), {});
    auto untraced = Victim::start(untraced_), traced = Victim::start(of_traced);
    if (!untraced) return tl::make_unexpected(untraced.error());
    if (!traced) return tl::make_unexpected(traced.error());
    for (Series& series : series_) {
      const int pairs = plan_.quick ? series.operation->quick_pairs : 1;
      for (int i = 0; i < pairs; i++) {
        if (Status done = run_pair(series, *untraced, *traced); !done) return done;
      }
    }
    done_++;
    return {};
  }

  [[nodiscard]] int done() const { return done_; }

  [[nodiscard]] std::vector<Figure> figures() const {
    std::vector<Figure> all;
    for (const Series& series : series_) {
      std::vector<double> untraced, added;
      for (const Pair& pair : series.pairs) {
        untraced.push_back(pair.untraced_ns);
        added.push_back(pair.traced_ns - pair.untraced_ns);
      }
      Figure figure{series.operation, estimate(std::move(untraced)), {}};
      if (series.operation->compared) figure.added_ns = estimate(std::move(added));
      all.push_back(figure);
    }
    return all;
  }

  // The least number of events that the traced victims must have produced.
  [[nodiscard]] uint64_t least_events() const { return least_events_; }

 private:
  Status find_iterations(Series& series, Victim& untraced) {
    const Operation& operation = *series.operation;
    const auto took = untraced.run(operation.loop, operation.first_iterations);
    if (!took) return tl::make_unexpected(took.error());
    const double each_ns = std::max(*took / static_cast<double>(operation.first_iterations), 0.1);
    series.iterations = std::max(static_cast<long>(static_cast<double>(plan_.slice_ns) / each_ns), 2L);
    return {};
  }

  Status run_pair(Series& series, Victim& untraced, Victim& traced) {
    if (series.iterations == 0) {
      if (Status found = find_iterations(series, untraced); !found) return found;
    }
    const Operation& operation = *series.operation;
    const bool untraced_first = series.pairs.size() % 2 == 0;
    Pair pair{};
    for (const bool is_traced : {!untraced_first, untraced_first}) {
      if (is_traced && !operation.compared) continue;
      if (is_traced && operation.paused) collection_.set_paused(true);
      const auto took = (is_traced ? traced : untraced).run(operation.loop, series.iterations);
      if (is_traced && operation.paused) collection_.set_paused(false);
      if (!took) return tl::make_unexpected(took.error());
      (is_traced ? pair.traced_ns : pair.untraced_ns) =
          *took / static_cast<double>(series.iterations * operation.calls);
    }
    least_events_ += static_cast<uint64_t>(series.iterations) * static_cast<uint64_t>(operation.events);
    series.pairs.push_back(pair);
    return {};
  }

  const Plan& plan_;
  Collection& collection_;
  const VictimOptions untraced_;
  const std::string library_;
  std::vector<Series> series_;
  int done_ = 0;
  uint64_t least_events_ = 0;
};

// The data file of the loops, removed with this object.
class DataFile {
 public:
  explicit DataFile(const std::string& folder) : path_(folder + "/data") {}
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;
  ~DataFile() { ::unlink(path_.c_str()); }

  [[nodiscard]] Status write() const { return util::write_atomically(path_, std::string(kDataBytes, 'x'), 0600); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Checks that all calls of the traced victims were recorded: a tracer that records nothing would seem fast.
Status check_complete(const Collected& collected, uint64_t least_events) {
  const uint64_t seen = collected.records + collected.counted;
  if (collected.drops == 0 && seen >= least_events) return {};
  return fail(
      fmt::format("invalid measurement: the library recorded {} of at least {} calls and dropped {}; see mlrun doctor",
                  seen, least_events, collected.drops));
}

}  // namespace

Result<Measurement> measure(const Plan& plan, const Installed& installed, const Report& report) {
  const uint64_t start_ns = util::monotonic_ns();
  const Cpus cpus = choose_cpus();
  auto collection = Collection::start(cpus.others);
  if (!collection) return tl::make_unexpected(collection.error());
  const DataFile data((*collection)->folder());
  if (Status written = data.write(); !written) return tl::make_unexpected(written.error());
  VictimOptions untraced{installed.victim, data.path(), cpus.victims, launch::untraced_environment(environ)};

  Rounds rounds(plan, **collection, std::move(untraced), installed.library);
  for (;;) {
    const uint64_t used_ns = util::monotonic_ns() - start_ns;
    const auto done = static_cast<uint64_t>(rounds.done());
    const bool time_left = done == 0 || used_ns + used_ns / done <= plan.limit_ns;
    if (rounds.done() >= plan.least_rounds && (!time_left || rounds.done() >= plan.most_rounds)) break;
    if (!report(rounds.done(), used_ns)) return fail("interrupted", 130);
    if (Status status = rounds.run_round(); !status) return tl::make_unexpected(status.error());
  }
  const auto collected = (*collection)->finish();
  if (!collected) return tl::make_unexpected(collected.error());
  if (Status complete = check_complete(*collected, rounds.least_events()); !complete)
    return tl::make_unexpected(complete.error());
  return Measurement{rounds.figures(), rounds.done(), *collected};
}

}  // namespace mlrun::bench
