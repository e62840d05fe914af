// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/divide.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "runner/blame/driver.h"

namespace mlrun::blame {

namespace {

using summary::Activity;

constexpr Ns kTailNs = 50'000;  // a wait for Python's lock that begins so soon after another wait counts as part of it
constexpr int kHeirsMost = 4;
constexpr Ns kShortStretchNs = 150'000'000;

Top top_of(const Wait& wait) {
  if (wait.kind == WaitKind::kSleep) return Top::kSleep;
  return wait.kind == WaitKind::kChild && !wait.joins_thread ? Top::kChild : Top::kWaiting;
}

bool is_unseen_kind(Label label) {
  return label == Label::kCpu || label == Label::kLoader || label == Label::kSerialise || label == Label::kCheckpoint ||
         label == Label::kLogging || label == Label::kAsleep || label == Label::kNames;
}

}  // namespace

Divider::Divider(const Timeline& timeline, Lines& lines)
    : timeline_(timeline), lines_(lines), ends_(timeline), kinds_(timeline), chain_(timeline, ends_, kinds_, lines) {}

// If several threads drive in turn, as the commands of a script, the one that drives longest is the driver. `longest_ns`: longest time of those so
// far.
bool Divider::hand_over(int32_t driver, const Wait& wait, Ns a_ns, Ns b_ns, int depth, Ns& longest_ns) {
  const int32_t heir = depth < kHeirsMost ? find_heir(timeline_, driver, wait) : 0;
  if (heir == 0) return false;
  const Thread& next = timeline_.thread(heir);
  const bool same_process = next.proc_id == timeline_.thread(driver).proc_id;
  // A join of a thread made for one batch is no hand-over, though it may take long on a busy machine; nor is a wait for a command that a training
  // runs.
  constexpr Ns kShareOfRun = 10;
  constexpr Ns kCommandNs = 1'000'000'000;
  const bool is_command = !timeline_.thread(driver).samples.empty() && b_ns - a_ns < kCommandNs;
  if ((same_process || is_command) && kShareOfRun * (b_ns - a_ns) < timeline_.end_ns - timeline_.start_ns) return false;
  const Ns last_ns = same_process ? next.last_ns : timeline_.process(next.proc_id).last_ns;
  const Ns from_ns = std::clamp(next.first_ns, a_ns, b_ns), to_ns = std::clamp(last_ns, from_ns, b_ns);
  const auto put = [&](Ns start_ns, Ns end_ns) {
    if (end_ns <= start_ns) return;
    Piece piece;
    piece.start_ns = start_ns;
    piece.end_ns = end_ns;
    piece.label = Label::kWait;
    piece.state = summary::State::kBlocked;
    piece.thread_id = driver;
    pieces_.push_back(piece);
  };
  put(a_ns, from_ns);
  const int32_t before = driver_;
  driver_ = heir;
  drive(heir, from_ns, to_ns, depth + 1);
  if (to_ns - from_ns > longest_ns) {
    longest_ns = to_ns - from_ns;
  } else {
    driver_ = before;
  }
  put(to_ns, b_ns);
  return true;
}

// Times at which a stretch without waits is cut, because the order of calls inside a stretch is unknown: half-way between samples, so that each part
// has one sample, and where the writing of a file begins and ends.
std::vector<Ns> Divider::cuts(int32_t driver) const {
  constexpr Ns kPartNs = 100'000'000;
  std::vector<Ns> all;
  const Thread& thread = timeline_.thread(driver);
  Ns before_ns = thread.first_ns;
  for (const StackSample& sample : thread.samples) {
    if (sample.start_ns > before_ns) all.push_back(before_ns + (sample.start_ns - before_ns) / 2);
    before_ns = sample.start_ns;
  }
  if (thread.samples.empty()) {
    // A damaged trace may contain any times: limits the number of cuts.
    constexpr double kPartsMost = 100'000;
    const double run_ns = static_cast<double>(timeline_.end_ns) - static_cast<double>(timeline_.start_ns);
    const Ns part_ns = std::max(kPartNs, static_cast<Ns>(run_ns / kPartsMost));
    const Ns end_ns = std::min(thread.last_ns, timeline_.end_ns);
    for (Ns at_ns = std::max(thread.first_ns, timeline_.start_ns); at_ns < end_ns && end_ns - at_ns > part_ns;
         at_ns += part_ns)
      all.push_back(at_ns);
  }
  for (const bool logs : {false, true}) {
    for (const auto& [from_ns, to_ns] : savings(driver, logs)) all.insert(all.end(), {from_ns, to_ns});
  }
  std::sort(all.begin(), all.end());
  return all;
}

void Divider::own(int32_t driver, Ns a_ns, Ns b_ns, const std::vector<Ns>& cuts) {
  const size_t first = pieces_.size();
  const bool is_long = b_ns - a_ns >= kShortStretchNs;
  auto cut = std::upper_bound(cuts.begin(), cuts.end(), a_ns);
  for (; cut != cuts.end() && *cut < b_ns; ++cut) {
    if (*cut == a_ns) continue;
    chain_.own(driver, a_ns, *cut, pieces_);
    a_ns = *cut;
  }
  chain_.own(driver, a_ns, b_ns, pieces_);
  for (size_t i = first; i < pieces_.size(); ++i) pieces_[i].in_long = is_long;
}

void Divider::drive(int32_t driver, Ns a_ns, Ns b_ns, int depth) {
  const Thread& thread = timeline_.thread(driver);
  const std::vector<Ns> cuts_of_driver = cuts(driver);
  Ns at_ns = a_ns, longest_ns = 0;
  std::optional<Ns> last_wait_ns;
  for (size_t i = thread.first_wait(a_ns); i < thread.waits.size(); ++i) {
    const Wait& wait = thread.waits[i];
    const Ns from_ns = std::max(wait.start_ns, at_ns), to_ns = std::min(wait.end_ns, b_ns);
    if (from_ns >= b_ns) break;
    if (to_ns <= from_ns) continue;
    if (from_ns > at_ns) own(driver, at_ns, from_ns, cuts_of_driver);
    at_ns = to_ns;
    if (hand_over(driver, wait, from_ns, to_ns, depth, longest_ns)) continue;
    if (timeline_.is_python_lock(thread.proc_id, wait)) {
      const bool belongs = last_wait_ns && from_ns - *last_wait_ns < kTailNs;
      chain_.wait(driver, wait, from_ns, to_ns, belongs ? Top::kWaiting : Top::kPythonLock, pieces_);
      last_wait_ns = belongs && wait.err == ETIMEDOUT ? std::optional<Ns>(to_ns) : std::nullopt;
      continue;
    }
    const bool asks = wait.polls && !ends_.find(driver, wait, true).threads.empty();
    const Top top = asks ? Top::kWaiting : top_of(wait);
    const size_t first = pieces_.size();
    chain_.wait(driver, wait, from_ns, to_ns, top, pieces_);
    const bool loads = chain_.kind_near(driver, from_ns + (to_ns - from_ns) / 2) == StackKind::kLoader;
    for (size_t k = first; k < pieces_.size(); ++k) pieces_[k].by_loader = loads;
    if (top == Top::kWaiting) last_wait_ns = to_ns;
  }
  if (at_ns < b_ns) own(driver, at_ns, b_ns, cuts_of_driver);
}

// Divides pieces without a sample by label and line as the samples fell in other short stretches of the thread.
void Divider::share_unseen() {
  using Seen = std::map<std::pair<Label, int32_t>, int64_t>;
  // What the driver does in long stretches, such as making a data set, differs from what it does between two waits.
  std::map<std::tuple<Top, int32_t, bool>, Seen> pools;
  for (const Piece& piece : pieces_) {
    if (!is_unseen_kind(piece.label) || piece.line == kUnseenLine || piece.line == kNoLine) continue;
    if (piece.end_ns - piece.start_ns < kShortStretchNs)
      ++pools[{piece.top, piece.thread_id, piece.in_long}][{piece.label, piece.line}];
  }
  std::vector<Piece> shared;
  for (Piece& piece : pieces_) {
    const auto pool = pools.find({piece.top, piece.thread_id, piece.in_long});
    if (piece.line != kUnseenLine || pool == pools.end()) {
      if (piece.line == kUnseenLine) piece.line = kNoLine;
      shared.push_back(piece);
      continue;
    }
    int64_t all = 0, done = 0;
    for (const auto& [what, count] : pool->second) all += count;
    const Ns start_ns = piece.start_ns, whole_ns = piece.end_ns - piece.start_ns;
    for (const auto& [what, count] : pool->second) {
      Piece part = piece;
      part.start_ns = start_ns + static_cast<Ns>(static_cast<double>(whole_ns) * static_cast<double>(done) /
                                                 static_cast<double>(all));
      done += count;
      part.end_ns = start_ns + static_cast<Ns>(static_cast<double>(whole_ns) * static_cast<double>(done) /
                                               static_cast<double>(all));
      std::tie(part.label, part.line) = what;
      part.shared_line = true;
      if (part.label == Label::kAsleep) part.state = summary::State::kBlocked;
      if (part.end_ns > part.start_ns) shared.push_back(part);
    }
  }
  pieces_ = std::move(shared);
}

void Divider::relabel(const Stretches& stretches, Label from, Label to) {
  if (stretches.empty()) return;
  std::vector<Piece> out;
  for (const Piece& piece : pieces_) {
    if (piece.top != Top::kOwn || piece.label != from) {
      out.push_back(piece);
      continue;
    }
    Ns at_ns = piece.start_ns;
    const auto put = [&](Ns end_ns, Label label) {
      if (end_ns <= at_ns) return;
      out.push_back(piece);
      out.back().start_ns = at_ns;
      out.back().end_ns = end_ns;
      out.back().label = label;
      if (label != from && piece.shared_line) out.back().line = kNoLine;
      at_ns = end_ns;
    };
    auto stretch = std::partition_point(stretches.begin(), stretches.end(),
                                        [&](const auto& one) { return one.second <= piece.start_ns; });
    for (; stretch != stretches.end() && stretch->first < piece.end_ns; ++stretch) {
      put(std::min(stretch->first, piece.end_ns), from);
      put(std::min(stretch->second, piece.end_ns), to);
    }
    put(piece.end_ns, from);
  }
  pieces_ = std::move(out);
}

// Calls show more exactly than samples when a file was written.
void Divider::refine_with_savings(int32_t driver) {
  for (const Label from : {Label::kCpu, Label::kLoader, Label::kSerialise, Label::kOtherCall, Label::kNames,
                           Label::kRead, Label::kWrite, Label::kSync}) {
    relabel(savings(driver, false), from, Label::kCheckpoint);
    relabel(savings(driver, true), from, Label::kLogging);
  }
}

// Splits the driver's computing into user and kernel mode by the scheduler's counts.
void Divider::split_computing(int32_t driver) {
  std::vector<Piece> split;
  for (const Piece& piece : pieces_) {
    split.push_back(piece);
    const bool computes = piece.top == Top::kOwn && piece.label == Label::kCpu && piece.state == summary::State::kOnCpu;
    const double share = computes ? chain_.share_in_kernel(driver, piece.start_ns, piece.end_ns) : 0;
    const Ns kernel_ns = static_cast<Ns>(static_cast<double>(piece.end_ns - piece.start_ns) * share);
    if (kernel_ns <= 0) continue;
    split.back().end_ns -= kernel_ns;
    if (split.back().end_ns == split.back().start_ns) split.pop_back();
    split.push_back(piece);
    split.back().start_ns = piece.end_ns - kernel_ns;
    split.back().label = Label::kKernel;
  }
  pieces_ = std::move(split);
}

void Divider::refine_without_samples(int32_t driver) {
  relabel(receiving(driver), Label::kCpu, Label::kSerialise);
  refine_with_savings(driver);
  relabel(importing(driver), Label::kCpu, Label::kImport);
  split_computing(driver);
}

Division Divider::divide(int32_t wanted_tid) {
  Division division;
  driver_ = find_driver(timeline_, wanted_tid);
  if (driver_ == 0) return division;
  const Process& process = timeline_.process_of(driver_);
  const Ns a_ns = std::max(timeline_.start_ns, wanted_tid != 0 ? timeline_.thread(driver_).first_ns : process.first_ns);
  const Ns b_ns =
      std::clamp(wanted_tid != 0 ? timeline_.thread(driver_).last_ns : process.last_ns, a_ns, timeline_.end_ns);
  pieces_.clear();
  drive(driver_, a_ns, b_ns, 0);
  division.driver = driver_;
  division.driver_seen = !timeline_.thread(driver_).samples.empty();
  if (division.driver_seen) {
    share_unseen();
    refine_with_savings(driver_);
  } else {
    refine_without_samples(driver_);
  }
  mark_starts(driver_);
  division.batches = find_batches(driver_);
  division.savings = savings(driver_);
  const auto put_edge = [&](Ns start_ns, Ns end_ns, Activity activity) {
    if (end_ns <= start_ns) return;
    Divided edge;
    edge.start_ns = start_ns;
    edge.end_ns = end_ns;
    edge.state = summary::State::kUnknown;
    edge.thread_id = driver_;
    edge.activity = activity;
    division.pieces.push_back(edge);
  };
  put_edge(timeline_.start_ns, a_ns, Activity::kStartup);
  for (const Piece& piece : pieces_) {
    Divided divided;
    static_cast<Piece&>(divided) = piece;
    // A piece is cut where the first batch arrived: startup ends there.
    Ns cut_ns = division.batches.first_ns;
    if (cut_ns > piece.start_ns && cut_ns < piece.end_ns) {
      divided.end_ns = cut_ns;
      divided.activity = activity_of(divided, division.batches);
      division.pieces.push_back(divided);
      divided.start_ns = cut_ns;
      divided.end_ns = piece.end_ns;
    }
    divided.activity = activity_of(divided, division.batches);
    division.pieces.push_back(divided);
  }
  put_edge(b_ns, timeline_.end_ns, Activity::kEnd);
  return division;
}

}  // namespace mlrun::blame
