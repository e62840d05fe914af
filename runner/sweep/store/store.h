// SPDX-License-Identifier: Apache-2.0
// OUT/sweep.sqlite, opened for writing by the process that makes the runs. Readers use rows.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/plan/plan.h"
#include "runner/sweep/store/rows.h"
#include "runner/sweep/store/run_log.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

class Store final : public RunLog {
 public:
  // Both lock the folder: a second process is refused until this object is gone.
  // A new sweep, with a row for each of `runs`; makes the folder. Fails if that holds anything.
  static Result<Store> create(const std::string& folder, const Plan& plan, const std::vector<PlannedRun>& runs);
  // The sweep that the folder holds.
  static Result<Store> open(const std::string& folder);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store() override;

  [[nodiscard]] int lock_fd() const override;

  // The sweep's plan; the newest one if the sweep was extended.
  [[nodiscard]] const Plan& plan() const override;
  // Stores a newer plan, which has more runs or changes settings that are no part of a run, and appends its new runs.
  Status extend(const Plan& plan, const std::vector<PlannedRun>& runs);
  // Whether the tables of events are kept of all runs; the choice stays with the sweep.
  [[nodiscard]] bool keeps_all_traces() const;
  Status keep_all_traces();
  // Appends rows for the runs whose configuration, workload and block have none yet.
  Status add_runs(const std::vector<PlannedRun>& runs);

  // By position, then attempt, with all that is known of them.
  Result<std::vector<RunRow>> runs();
  // A planned row for the next attempt of a run. Its failed attempt's folder becomes FOLDER.failed-ATTEMPT, which the
  // caller renames.
  Result<RunRow> add_attempt(const RunRow& failed);

  // Each is one transaction. set_ended() is synced to disk when it returns. A power failure can lose what set_running() stored; that run is
  // made again.
  Status set_running(const RunRow& run, const Processes& processes) override;
  Status set_ended(const RunRow& run) override;
  Status set_looks(int32_t looks);  // keeps the greater number

  Status set_helper(const Processes& processes) override;

  // What is stored as running: runs, and the last helper.
  struct Running {
    RunRow run;
    Processes processes;
  };
  Result<std::vector<Running>> running();
  Result<Processes> helper();  // pid 0: no helper was started

 private:
  struct Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// The name of a failed attempt's folder, after another attempt has taken its name.
std::string failed_folder(const RunRow& run);

}  // namespace mlrun::sweep
