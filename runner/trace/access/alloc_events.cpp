// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/alloc_events.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "runner/parquet/batch_columns.h"
#include "runner/parquet/table_reader.h"
#include "runner/summary/meters/frame_names.h"
#include "runner/util/text.h"

namespace mlrun::trace {

// The table's row groups are in order of the rows' ends, but the rows of a group are in order of their start. So the row
// of a long call waits here until all rows that ended before it have been read.
struct AllocEvents::State {
  struct Columns {
    explicit Columns(const arrow::RecordBatch& batch)
        : proc_id(batch, "proc_id"),
          ts(batch, "ts"),
          dur(batch, "dur"),
          addr(batch, "addr"),
          size(batch, "size"),
          usable(batch, "usable"),
          old_addr(batch, "old_addr"),
          library(batch, "site_library"),
          offset(batch, "site_offset"),
          stack(batch, "stack_id"),
          op(batch, "op") {}

    void read(int64_t at, AllocEvent& event) const {
      event.proc_id = static_cast<int32_t>(proc_id[at]);
      event.is_free = op[at] == "free";
      event.begin_ns = ts[at];
      event.end_ns = ts[at] + dur[at];
      event.address = static_cast<uint64_t>(addr[at]);
      event.bytes = static_cast<uint64_t>(std::max(size[at], usable[at]));
      event.old_address = static_cast<uint64_t>(old_addr[at]);
      event.site = {event.proc_id, library[at], offset[at], static_cast<int32_t>(stack[at])};
    }

    tables::Numbers proc_id, ts, dur, addr, size, usable, old_addr, library, offset, stack;
    tables::Texts op;
  };
  struct Waiting {
    AllocEvent event;
    uint64_t row;
    [[nodiscard]] auto key() const { return std::pair(event.moment_ns(), row); }
    bool operator<(const Waiting& other) const { return key() > other.key(); }  // the top is the earliest
  };

  // Whether no row that is still to be read has an earlier moment than this one.
  [[nodiscard]] bool is_settled(const Waiting& one) const {
    return one.row < settled || one.event.moment_ns() <= begin_ns;
  }
  Result<bool> read_row(AllocEvent& event);

  std::optional<tables::TableReader> reader;
  std::shared_ptr<arrow::RecordBatch> batch;
  std::unique_ptr<Columns> columns;
  int64_t at = 0;
  std::priority_queue<Waiting> waiting;
  uint64_t rows = 0;     // number of rows read so far
  uint64_t settled = 0;  // rows below this number are settled: no row that is still to be read is earlier
  int64_t begin_ns = std::numeric_limits<int64_t>::min();
};

Result<bool> AllocEvents::State::read_row(AllocEvent& event) {
  while (reader && (!columns || at == batch->num_rows())) {
    auto next = reader->next();
    if (!next) return tl::make_unexpected(next.error());
    if (!*next) return false;
    batch = *next;
    columns = std::make_unique<Columns>(*batch);
    at = 0;
  }
  if (!reader) return false;
  columns->read(at++, event);
  return true;
}

AllocEvents::AllocEvents(std::unique_ptr<State> state) : state_(std::move(state)) {}
AllocEvents::~AllocEvents() = default;
AllocEvents::AllocEvents(AllocEvents&&) noexcept = default;
AllocEvents& AllocEvents::operator=(AllocEvents&&) noexcept = default;

Result<AllocEvents> AllocEvents::open(const std::string& folder) {
  auto state = std::make_unique<State>();
  if (tables::has_table(folder + "/tables", "alloc")) {
    tables::TableQuery query;
    query.columns = {"proc_id", "ts",       "dur",          "op",          "addr",    "size",
                     "usable",  "old_addr", "site_library", "site_offset", "stack_id"};
    query.dictionaries = {"op"};
    auto reader = tables::TableReader::open(folder, "alloc", std::move(query));
    if (!reader) return tl::make_unexpected(reader.error());
    state->reader.emplace(*std::move(reader));
  }
  return AllocEvents(std::move(state));
}

Result<bool> AllocEvents::next(AllocEvent& event) {
  State& state = *state_;
  while (state.waiting.empty() || !state.is_settled(state.waiting.top())) {
    AllocEvent read;
    const auto found = state.read_row(read);
    if (!found) return tl::make_unexpected(found.error());
    if (!*found) {
      state.settled = std::numeric_limits<uint64_t>::max();
      if (state.waiting.empty()) return false;
      break;
    }
    if (read.begin_ns < state.begin_ns) state.settled = state.rows;  // a new group: all rows before it ended earlier
    state.begin_ns = read.begin_ns;
    state.waiting.push({read, state.rows++});
  }
  event = state.waiting.top().event;
  state.waiting.pop();
  return true;
}

std::string site_text(const model::TraceInfo& info, const AllocSite& site) {
  if (site.stack_id > 0) return summary::frames_text(info.stacks, site.stack_id);
  for (const model::NameRow& name : info.names) {
    if (name.name_id == site.site_library)
      return fmt::format("{} + {:#x}", util::base_name(name.text), site.site_offset);
  }
  return "unknown";
}

}  // namespace mlrun::trace
