// SPDX-License-Identifier: Apache-2.0
// Workers that are started again need longer for their first batch, since they open their data.
#include <unordered_map>
#include <utility>

#include "runner/blame/batch_list.h"
#include "runner/findings/rule.h"
#include "runner/findings/workers.h"
#include "runner/util/median.h"

namespace mlrun::findings {

namespace {

using blame::Batch;

constexpr double kLonger = 3;  // times the median of batches that are not a worker's first
constexpr Ns kLongerNs = 20'000'000;
constexpr size_t kOthersMin = 4;

double service_ns(const Batch& batch) { return static_cast<double>(batch.sent_ns - batch.begun_ns); }

using Stretches = std::unordered_map<int32_t, std::pair<Ns, Ns>>;  // by process: begin and end of its slow first batch

// Finds slow first batches of workers that were started after the training had its first batch.
void find_slow_firsts(const Context& context, const blame::Epoch& epoch, Stretches& slow) {
  std::unordered_map<int32_t, const Batch*> firsts;
  for (const Batch& batch : epoch.batches) {
    const Batch*& first = firsts[batch.proc_id];
    if (first == nullptr || batch.sent_ns < first->sent_ns) first = &batch;
  }
  std::vector<double> others;
  for (const Batch& batch : epoch.batches) {
    if (firsts[batch.proc_id] != &batch) others.push_back(service_ns(batch));
  }
  if (others.size() < kOthersMin) return;
  const double usual_ns = util::upper_median(std::move(others));
  for (const auto& [proc_id, first] : firsts) {
    const bool is_later = context.timeline().process(proc_id).first_ns > context.analysis.division.batches.first_ns;
    const double ns = service_ns(*first);
    if (is_later && ns >= kLonger * usual_ns && ns - usual_ns >= kLongerNs)
      slow[proc_id] = {first->begun_ns, first->sent_ns};
  }
}

}  // namespace

void settle_fresh_workers(Context& context) {
  const auto& division = context.analysis.division;
  const blame::Chain& chain = context.analysis.divider->chain();
  if (division.batches.first_ns == 0 || later_workers(context) == 0) return;
  Stretches slow;
  for (const blame::Epoch& epoch : blame::list_batches(context.timeline(), division, chain))
    find_slow_firsts(context, epoch, slow);
  for (size_t i = 0; i < division.pieces.size() && !slow.empty(); ++i) {
    const Divided& piece = division.pieces[i];
    if (piece.activity != summary::Activity::kWait || piece.thread_id == 0) continue;
    const auto first = slow.find(context.timeline().thread(piece.thread_id).proc_id);
    if (first == slow.end()) continue;
    if (piece.start_ns >= first->second.first && piece.start_ns < first->second.second)
      context.causes[i] = Cause::kWorkerStartup;
  }
}

}  // namespace mlrun::findings
