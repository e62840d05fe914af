// SPDX-License-Identifier: Apache-2.0
// Interface of what the machine sampler reads at each sample. Each word of known_sources() has one or more Sources. Used by the
// sampler's thread only.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runner/events/counter_sample.h"

namespace mlrun::machine {

// Rows of several tables, as bytes.
class Batch {
 public:
  struct Table {
    mlrun_sample_table table;
    uint32_t row_bytes;
    std::vector<char> rows;
  };

  template <typename Row>
  void add(mlrun_sample_table table, const Row& row) {
    std::vector<char>& rows = of(table, sizeof row);
    const size_t at = rows.size();
    rows.resize(at + sizeof row);
    std::memcpy(rows.data() + at, &row, sizeof row);
  }

  // Moves the rows of `other` to the end of this batch. Drops a table that would make all rows exceed `bytes_max`. Returns the number of
  // dropped rows.
  uint64_t take(Batch&& other, size_t bytes_max) {
    uint64_t dropped = 0;
    for (Table& table : other.tables_) {
      if (bytes() + table.rows.size() > bytes_max) {
        dropped += table.rows.size() / table.row_bytes;
        continue;
      }
      std::vector<char>& rows = of(table.table, table.row_bytes);
      rows.insert(rows.end(), table.rows.begin(), table.rows.end());
    }
    other.tables_.clear();
    return dropped;
  }

  [[nodiscard]] const std::vector<Table>& tables() const { return tables_; }
  [[nodiscard]] size_t bytes() const {
    size_t sum = 0;
    for (const Table& table : tables_) sum += table.rows.size();
    return sum;
  }

 private:
  std::vector<char>& of(mlrun_sample_table table, uint32_t row_bytes) {
    for (Table& known : tables_) {
      if (known.table == table) return known.rows;
    }
    return tables_.emplace_back(Table{table, row_bytes, {}}).rows;
  }

  std::vector<Table> tables_;
};

class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // Sets the processes of the command, by their pids as mlrun sees them.
  virtual void watch(const std::vector<uint32_t>& /*host_pids*/) {}
  // Adds the rows of the time since the previous call. In the first call only processes give rows.
  virtual void sample(uint64_t now_ns, Batch& batch) = 0;
  // Adds the last row of a process of the command that has ended and is not reaped.
  virtual void sample_end(uint32_t /*host_pid*/, uint64_t /*now_ns*/, Batch& /*batch*/) {}
  // CPU time since the previous call that a limit of the source's own bounds: the sampler's share does not count it.
  virtual uint64_t take_bounded_ns() { return 0; }
  // Adds the rows that were held back.
  virtual void finish(Batch& /*batch*/) {}
  // False: this source cannot read anything on this machine.
  [[nodiscard]] virtual bool works() const { return true; }
  // One line for each thing that the source cannot read on this machine or left out because of a limit, with the reason: rows of
  // coverage. Empty: it reads everything.
  [[nodiscard]] virtual std::vector<std::string> problems() const { return {}; }
  // Lines for doctor and the trace: what the source has chosen, why it could not use other mechanisms, what is null
  // by its design.
  [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }
};

// The folders that sources read; tests use others.
struct Places {
  std::string proc = "/proc", sys = "/sys", dev = "/dev";
};

}  // namespace mlrun::machine
