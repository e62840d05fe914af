// SPDX-License-Identifier: Apache-2.0
// System calls counted by the kernel side: the table `syscall`, and the summary's figures for each name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/events/kernel_record.h"
#include "runner/model/rows.h"
#include "runner/parquet/row_table.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// Name of a system call, as "openat"; "syscall 999" if this machine's libseccomp does not know the number.
std::string syscall_name(uint32_t number, bool is_32bit);

// As tables::visit_empty(), of syscall and syscall_bucket.
Status visit_syscall_tables(const tables::TableVisit& visit);

class SyscallTable {
 public:
  void add(const mlrun_syscall_sum& record, const model::Origin& origin);
  Status write(const std::string& tables_folder) const;

  // The value of `syscalls` in run.json (SUMMARY_JSON.md): an entry per name, longest total time first.
  [[nodiscard]] nlohmann::json json() const;

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // The limit is above what mlrun-probes can write, so only a damaged spool reaches it.
  [[nodiscard]] bool full() const { return rows_.size() >= kRowsMax; }

 private:
  static constexpr size_t kRowsMax = 1 << 17;
  struct Row {
    model::Origin origin;
    mlrun_syscall_sum record;
  };
  std::vector<Row> rows_;
};

}  // namespace mlrun::trace
