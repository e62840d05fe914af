// SPDX-License-Identifier: Apache-2.0
// Sorts and writes the rows of one event table: row groups by end, the rows of a group by begin, as TABLES.md promises. A row's texts are
// stored beside it; `bind` puts them back into the row.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "runner/exchange/import/sorted_rows.h"
#include "runner/parquet/parquet_table.h"
#include "runner/trace/rows/origin_columns.h"

namespace mlrun::exchange {

inline constexpr size_t kGroupTextBytes = size_t{24} << 20;

template <typename Row>
int64_t begin_of(const Row& row) {
  if constexpr (requires { row.ts_ns; }) {
    return row.ts_ns;
  } else {
    return row.origin.ts_ns;
  }
}

// Writes rows that come in order of their end.
template <typename Table, typename Row, size_t kTexts, size_t kStored = sizeof(Row)>
class GroupWriter {
 public:
  using Sorted = SortedRows<Row, kTexts, kStored>;
  using Texts = typename Sorted::Texts;
  using Bind = void (*)(Row& row, const Texts& texts);

  GroupWriter(Bind bind, int64_t rows_max) : bind_(bind), rows_max_(rows_max), group_({}, Sorted::kUnlimited) {}

  Status open(const std::string& tables_folder) { return table_.parquet().open_in(tables_folder); }

  Status add(int64_t end_ns, const Row& row, const Texts& texts) {
    for (const std::string_view text : texts) text_bytes_ += text.size();
    if (Status added = group_.add(begin_of(row), row, texts); !added) return added;
    return added_one(end_ns);
  }
  // Adds `row` with the texts of `stored`, whose memory must stay valid until the group ends.
  Status add_stored(int64_t end_ns, const Row& row, char* stored) {
    text_bytes_ += Sorted::text_bytes(stored);
    if (Status added = group_.add_stored(begin_of(row), row, stored); !added) return added;
    return added_one(end_ns);
  }
  // No row is waiting for the end of its group.
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  Status close() {
    if (Status ended = end_group(); !ended) return ended;
    if (auto closed = table_.parquet().close(); !closed) return tl::make_unexpected(closed.error());
    return {};
  }

 private:
  Status added_one(int64_t end_ns) {
    if (count_ == 0) ends_ = {end_ns, end_ns};
    ends_.max_ns = end_ns;
    return ++count_ < rows_max_ && text_bytes_ < kGroupTextBytes ? Status() : end_group();
  }
  Status end_group() {
    const auto put = [&](int64_t, const Row& row, const Texts& texts) -> Status {
      Row bound = row;
      bind_(bound, texts);
      table_.add(bound, ends_);
      return {};
    };
    if (Status shown = group_.for_each(put); !shown) return shown;
    count_ = 0;
    text_bytes_ = 0;
    return table_.parquet().end_row_group();
  }

  Bind bind_;
  int64_t rows_max_, count_ = 0;
  size_t text_bytes_ = 0;
  trace::GroupEnds ends_;
  Sorted group_;
  Table table_;
};

// Calls put(end, stored) for each row, in the order of ends; put() gives the row to the writer.
template <typename Sorted, typename Writer, typename Put>
Status write_groups(Sorted& rows, Writer& writer, Put put) {
  const auto put_and_free = [&](int64_t end_ns, char* stored) -> Status {
    if (Status done = put(end_ns, stored); !done) return done;
    if (writer.is_empty()) rows.free_visited();
    return {};
  };
  if (Status shown = rows.for_each_stored(put_and_free); !shown) return shown;
  if (Status closed = writer.close(); !closed) return closed;
  rows.free_visited();
  return {};
}

template <typename Table, typename Row, size_t kTexts, size_t kStored = sizeof(Row)>
class EventTable {
 public:
  using Sorted = SortedRows<Row, kTexts, kStored>;
  using Texts = typename Sorted::Texts;
  using Bind = typename GroupWriter<Table, Row, kTexts, kStored>::Bind;

  EventTable(const std::string& folder, size_t limit_bytes, Bind bind) : rows_(folder, limit_bytes), bind_(bind) {}

  // `end_ns`: the time by which the row is sorted.
  Status add(int64_t end_ns, const Row& row, const Texts& texts) { return rows_.add(end_ns, row, texts); }
  [[nodiscard]] int64_t size() const { return rows_.size(); }

  // `see` gets each row without its texts, in order of its end, before it is written, and may complete it.
  template <typename See>
  Status write(const std::string& tables_folder, See see) {
    GroupWriter<Table, Row, kTexts, kStored> writer(bind_, tables::kRowGroupRows);
    if (Status opened = writer.open(tables_folder); !opened) return opened;
    const auto put = [&](int64_t end_ns, char* stored) -> Status {
      Row row = Sorted::row_of(stored);
      see(row);
      return writer.add_stored(end_ns, row, stored);
    };
    return write_groups(rows_, writer, put);
  }

 private:
  Sorted rows_;
  Bind bind_;
};

}  // namespace mlrun::exchange
