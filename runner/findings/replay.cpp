// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/replay.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "runner/util/median.h"
#include "runner/util/number.h"

namespace mlrun::findings {

namespace {

using blame::Label;
using blame::Piece;
using summary::Activity;

bool is_in_files(const Piece& piece) {
  return piece.label == Label::kNames || piece.label == Label::kRead || piece.label == Label::kWrite ||
         piece.label == Label::kSync || piece.label == Label::kPageFault;
}

bool computes(const Piece& piece) {
  return piece.state == summary::State::kOnCpu && piece.label != Label::kPythonLock && piece.label != Label::kSleep;
}

Status parse_word(const std::string& word, WhatIf& change) {
  constexpr std::string_view kWorkers = "workers=";
  if (word == "io=free") {
    change.files_cost_nothing = true;
    return {};
  }
  if (word == "slow=none") {
    change.no_slow_batch = true;
    return {};
  }
  if (change.workers != 0 && word.starts_with(kWorkers))
    return fail("--what-if: workers= is given twice; give it once");
  if (word.starts_with(kWorkers)) {
    change.workers = util::whole_number<int64_t>(std::string_view(word).substr(kWorkers.size())).value_or(0);
    if (change.workers >= 1 && change.workers <= 4096) return {};
  }
  return fail(
      fmt::format("--what-if '{}': write workers=N (1 to 4096), io=free or slow=none, several joined by commas", word));
}

}  // namespace

Result<WhatIf> parse_what_if(const std::string& text) {
  WhatIf change;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    if (Status parsed = parse_word(text.substr(from, to - from), change); !parsed)
      return tl::make_unexpected(parsed.error());
    from = to + 1;
  }
  return change;
}

Replay::Replay(blame::Analysis& analysis, double processors) : processors_(std::max(1.0, processors)) {
  blame::Chain& chain = analysis.divider->chain();
  const auto& pieces = analysis.division.pieces;
  for (const blame::Epoch& epoch : blame::list_batches(analysis.timeline, analysis.division, chain)) {
    if (!epoch.in_order) continue;
    Loader loader;
    loader.workers = static_cast<int64_t>(epoch.workers.size());
    loader.ahead = std::max<int64_t>(1, epoch.ahead / std::max<int64_t>(1, loader.workers));
    Ns begun_ns = INT64_MAX;
    for (const blame::Batch& batch : epoch.batches) {
      Task task;
      task.service_ns = static_cast<double>(batch.sent_ns - batch.begun_ns);
      begun_ns = std::min(begun_ns, batch.begun_ns);
      std::vector<Piece> parts;
      chain.follow(analysis.timeline.process(batch.proc_id).main, batch.begun_ns, batch.sent_ns, parts);
      for (const Piece& part : parts) {
        if (is_in_files(part)) task.files_ns += part.ns();
        if (!computes(part)) continue;
        task.cpu_ns += part.ns();
        if (is_in_files(part)) task.files_cpu_ns += part.ns();
      }
      loader.tasks.push_back(task);
    }
    // The loop's own time between one batch and the next.
    auto piece = pieces.begin();
    for (size_t i = 0; i + 1 < epoch.batches.size(); ++i) {
      const Ns from_ns = epoch.batches[i].taken_ns, to_ns = epoch.batches[i + 1].taken_ns;
      while (piece != pieces.end() && piece->end_ns <= from_ns) ++piece;
      for (auto at = piece; at != pieces.end() && at->start_ns < to_ns; ++at) {
        if (at->activity == Activity::kWait) continue;
        const Ns inside_ns = std::min(to_ns, at->end_ns) - std::max(from_ns, at->start_ns);
        if (inside_ns <= 0) continue;
        loader.tasks[i].own_ns += static_cast<double>(inside_ns) * at->weight;
        if (computes(*at)) loader.own_cpu_ns += static_cast<double>(inside_ns) * at->weight;
      }
    }
    loader.measured_ns = epoch.batches.back().taken_ns - begun_ns;
    epochs_.push_back(std::move(loader));
  }
}

double Replay::simulate(const Loader& loader, const std::vector<double>& service_ns, int64_t workers) {
  const size_t count = loader.tasks.size();
  const auto ahead = static_cast<size_t>(loader.ahead * workers);
  std::vector<double> free_ns(static_cast<size_t>(workers)), issued_ns(count);
  double now_ns = 0;
  for (size_t i = 0; i < count; ++i) {
    double& free = free_ns[i % static_cast<size_t>(workers)];
    free = std::max(free, issued_ns[i]) + service_ns[i];
    now_ns = std::max(now_ns, free);
    if (i + ahead < count) issued_ns[i + ahead] = now_ns;
    if (i + 1 < count) now_ns += loader.tasks[i].own_ns;
  }
  return now_ns;
}

Replayed Replay::run(const WhatIf& change) const {
  Replayed out;
  for (const Loader& loader : epochs_) {
    std::vector<double> as_was, changed;
    double cpu_ns = loader.own_cpu_ns;
    for (const Task& task : loader.tasks) {
      as_was.push_back(task.service_ns);
      changed.push_back(task.service_ns - (change.files_cost_nothing ? std::min(task.files_ns, task.service_ns) : 0));
      cpu_ns += task.cpu_ns - (change.files_cost_nothing ? task.files_cpu_ns : 0);
    }
    if (change.no_slow_batch) {
      const double median = util::upper_median(changed);
      for (double& one : changed) one = std::min(one, median);
    }
    const int64_t workers = change.workers != 0 ? change.workers : loader.workers;
    const double was = simulate(loader, as_was, loader.workers);
    double then = simulate(loader, changed, workers);
    // The limit is at most the time of the unchanged replay: processors that were used then can be used again.
    const double limit = std::min(cpu_ns / processors_, was);
    if (then < limit) {
      then = limit;
      out.limited_by_processors = true;
    }
    out.measured_ns += loader.measured_ns;
    out.replayed_ns += static_cast<Ns>(was);
    out.predicted_ns += static_cast<Ns>(then);
    out.batches += static_cast<int64_t>(loader.tasks.size());
    out.workers = std::max(out.workers, loader.workers);
  }
  return out;
}

}  // namespace mlrun::findings
