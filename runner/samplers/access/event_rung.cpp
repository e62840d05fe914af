// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/event_rung.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mlrun::access {

namespace {

constexpr uint64_t kDrainNs = 10'000'000, kSecondNs = 1'000'000'000;
constexpr double kSavedNs = 1e7;  // most saved budget, also that at the start
// Lent at the start, to see a program fill its memory, and repaid afterwards. More would cost a run of 5 s more than 2 % of its time.
constexpr double kAdvanceNs = 4e7;
constexpr uint64_t kPage = 4096;

mlrun_access_kind kind_of(const AccessEvent& event, uint64_t data_source) {
  if (event.kind == MLRUN_ACCESS_FAULT) return MLRUN_ACCESS_FAULT;
  switch (decode::read_data_source(data_source).op) {
    case decode::MemoryOp::kStore: return MLRUN_ACCESS_STORE;
    case decode::MemoryOp::kLoad: return MLRUN_ACCESS_LOAD;
    case decode::MemoryOp::kUnknown:
    case decode::MemoryOp::kPrefetch:
    case decode::MemoryOp::kExecute: break;
  }
  return event.kind;
}

std::string cost_text(const EventCost& cost) {
  std::string text =
      cost.sample_ns == 0
          ? "samples are not calibrated: the processor itself takes them"
          : fmt::format(
                "a page fault takes {} ns longer with its sample; samples take at most {:.0f} % of the time, then they "
                "pause for a while; at the start they may take {:.0f} ms at once, and less in the next {} s",
                cost.sample_ns, kProgramShare * 100, (kSavedNs + kAdvanceNs) / 1e6,
                rounds::SampleBudget::kRepayNs / kSecondNs);
  if (cost.thread_ns != 0)
    text += fmt::format(
        "; each thread or process takes {} ns more to start and end, also during such a pause, without a bound",
        cost.thread_ns);
  return text;
}

class EventRung : public Rung {
 public:
  EventRung(mlrun_access_rung rung, std::vector<AccessEvent> events, EventCost cost, std::string unseen)
      : rung_(rung), wanted_(std::move(events)), budget_(event_budget(0)) {
    facts_.sample_ns = cost.sample_ns;
    facts_.problem = std::move(unseen);
    facts_.cost = cost_text(cost);
  }

  std::string attach(pid_t command) override {
    std::string problems = fmt::format("{}", fmt::join(events_.open(wanted_, command, true), "; "));
    if (!events_.is_open()) return problems;
    if (!problems.empty()) facts_.problem += (facts_.problem.empty() ? "" : "; ") + problems;
    processors_ = online_processors();
    return {};
  }

  uint64_t sample(uint64_t now_ns, Rows& rows) override {
    if (before_ns_ == 0) budget_ = event_budget(now_ns);
    if (now_ns >= second_ns_) {
      second_ns_ = now_ns + kSecondNs;
      check_processors();
      facts_.lost += events_.take_lost();
    }
    if (before_ns_ != 0) facts_.all_ns += now_ns - before_ns_;
    if (before_ns_ != 0 && is_on_) facts_.on_ns += now_ns - before_ns_;
    before_ns_ = now_ns;
    const size_t had = rows.size();
    events_.drain([&](const AccessEvent& event, const decode::PerfSample& sample) {
      // Address 0: the processor did not record it. IBS also samples accesses to memory of the kernel.
      if (sample.address != 0 && !is_kernel_address(sample.address)) rows.push_back(row_of(rung_, event, sample));
    });
    budget_.take((rows.size() - had) * facts_.sample_ns);
    const bool may = budget_.allows(now_ns);
    if (may == is_on_) return now_ns + kDrainNs;
    is_on_ = may;
    facts_.left_out += may ? 0 : 1;
    events_.enable(is_on_);
    return now_ns + kDrainNs;
  }

  void finish(uint64_t now_ns, Rows& rows) override {
    sample(now_ns, rows);
    facts_.lost += events_.take_lost();
  }

  [[nodiscard]] model::MemoryAccess::Rung facts() const override { return facts_; }

 private:
  // Each event belongs to one processor. A processor that comes online later has no event; one that goes offline loses its event for good.
  void check_processors() {
    if (processors_.empty() || online_processors() == processors_) return;
    processors_.clear();  // is said once
    facts_.problem += facts_.problem.empty() ? "" : "; ";
    facts_.problem += "processors have come or gone during the run: later accesses on these processors are not seen";
  }

  mlrun_access_rung rung_;
  std::vector<AccessEvent> wanted_;
  PerfEvents events_;
  rounds::SampleBudget budget_;
  util::IdList processors_;  // online when the events were opened
  uint64_t before_ns_ = 0;
  uint64_t second_ns_ = 0;  // when what is done once a second is due
  bool is_on_ = true;
  model::MemoryAccess::Rung facts_;
};

}  // namespace

std::unique_ptr<Rung> make_event_rung(mlrun_access_rung rung, std::vector<AccessEvent> events, EventCost cost,
                                      std::string unseen) {
  return std::make_unique<EventRung>(rung, std::move(events), cost, std::move(unseen));
}

rounds::SampleBudget event_budget(uint64_t now_ns) { return {kProgramShare, kSavedNs, now_ns, kAdvanceNs}; }

AccessEvent page_fault_event() {
  AccessEvent event{sampled_event(), "page-faults", MLRUN_ACCESS_FAULT};
  event.attr.type = PERF_TYPE_SOFTWARE;
  event.attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  event.attr.exclude_kernel = may_count_kernel() ? 0 : 1;  // faults of user memory inside system calls, as of read()
  event.attr.sample_period = 1;
  event.attr.sample_type |= PERF_SAMPLE_DATA_PAGE_SIZE;
  return event;
}

mlrun_access_sample row_of(mlrun_access_rung rung, const AccessEvent& event, const decode::PerfSample& sample) {
  const bool is_fault = event.kind == MLRUN_ACCESS_FAULT;
  const bool knows_page = (event.attr.sample_type & PERF_SAMPLE_DATA_PAGE_SIZE) != 0;
  mlrun_access_sample row{};
  row.monotonic_ns = sample.time_ns;
  row.host_pid = sample.pid;
  row.host_tid = sample.tid;
  row.address = sample.address;
  row.bytes = is_fault ? std::max(sample.page_size, kPage) : 0;
  row.count = event.counts_accesses ? sample.period : 1;
  row.ip = is_kernel_address(sample.ip) ? 0 : sample.ip;
  row.data_source = is_fault ? 0 : sample.data_source;
  row.latency = is_fault ? 0 : sample.weight;
  row.cpu = sample.cpu;
  row.rung = static_cast<uint16_t>(rung);
  row.kind = static_cast<uint16_t>(kind_of(event, sample.data_source));
  if (is_fault && knows_page) row.flags |= sample.page_size == 0 ? MLRUN_ACCESS_UNMAPPED : MLRUN_ACCESS_MAPPED;
  return row;
}

}  // namespace mlrun::access
