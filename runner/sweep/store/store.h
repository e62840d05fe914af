// SPDX-License-Identifier: Apache-2.0
// OUT/sweep.sqlite as the process that makes the runs has it. Readers use rows.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/plan/plan.h"
#include "runner/sweep/store/rows.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// A process that is never mistaken for another one with its pid.
struct ProcessMark {
  int64_t pid = 0;
  uint64_t start_ticks = 0;
  std::string boot_id;
};

class Store {
 public:
  // Locks the folder: a second process is refused until this object is gone.
  // A new sweep, with a row for each of `runs`. Fails if the folder holds one.
  static Result<Store> create(const std::string& folder, const Plan& plan, const std::vector<PlannedRun>& runs);
  // The sweep that the folder holds.
  static Result<Store> open(const std::string& folder);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Its plan, the newest if it was extended.
  Result<Plan> plan();
  // Adds what a longer plan has more: rows for those of `runs` whose configuration, workload and block are not there.
  Status extend(const Plan& plan, const std::vector<PlannedRun>& runs);

  Result<std::vector<RunRow>> runs();
  // A row for the next attempt of a run.
  Result<RunRow> add_attempt(const RunRow& failed);

  // Each is one transaction, on the disk when it returns.
  Status set_running(const RunRow& run, const ProcessMark& process, const ProcessMark& supervisor);
  Status set_ended(const RunRow& run);  // state, exit status, figures, machine, facts
  Status set_planned(const RunRow& run);
  Status set_looks(int32_t looks);

  // The processes of a run that is stored as running.
  struct Running {
    RunRow run;
    ProcessMark process, supervisor;
  };
  Result<std::vector<Running>> running();

 private:
  struct Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace mlrun::sweep
