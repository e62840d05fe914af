// SPDX-License-Identifier: Apache-2.0
// System calls as the kernel side counted them: the table `syscall`, and what the summary says of each name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/events/kernel_record.h"
#include "runner/model/rows.h"
#include "runner/util/result.h"

namespace mlrun::trace {

class ParquetTable;

// "openat"; "syscall 999" where this machine's tables have none.
std::string syscall_name(uint32_t number, bool is_32bit);

// Shows the tables syscall and syscall_bucket with their columns, without rows.
Status visit_syscall_tables(const std::function<Status(ParquetTable&)>& visit);

class SyscallTable {
 public:
  void add(const mlrun_syscall_sum& record, const model::Origin& origin);
  Status write(const std::string& tables_folder) const;

  // `syscalls` of run.json (SUMMARY_JSON.md): an entry for each name, the longest time first.
  [[nodiscard]] nlohmann::json json() const;

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // No recorder has as many.
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
