// SPDX-License-Identifier: Apache-2.0
// Writes the rows of one table as events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/exchange/flow_arrows.h"
#include "runner/exchange/ordered_rows.h"
#include "runner/exchange/otf2/io_handles.h"
#include "runner/exchange/otf2/places.h"
#include "runner/exchange/otf2/table_rules.h"
#include "runner/exchange/otf2/tracks.h"
#include "runner/view/id_names.h"

namespace mlrun::exchange {

// What the writers of all tables share.
struct Otf2Shared {
  Otf2Definitions& definitions;
  Otf2Places& places;
  Otf2Tracks& tracks;
  Otf2IoHandles& handles;
  OTF2_AttributeList* attributes;
  const view::IdNames& names;
  const view::IdNames& paths;
  const std::vector<OTF2_CallingContextRef>& contexts;  // by stack_id
  FlowArrows& flows;
};

class Otf2RowWriter {
 public:
  // `columns`: all columns of the table, in the order of the rows' values. `source`: number of the table in FlowArrows.
  Otf2RowWriter(const Otf2Rule& rule, std::vector<std::string> columns, size_t source, Otf2Shared& shared);

  // Writes a row. Returns the number of events.
  int64_t write(const OrderedRows& row);

 private:
  enum class As : uint8_t { kNumber, kId, kFile, kStack, kThread, kName, kReal, kBoolean, kText };
  struct Attribute {
    size_t column;
    As as;
    OTF2_AttributeRef number;
  };
  struct Metrics {
    std::vector<size_t> columns;
    std::vector<OTF2_Type> types;
    OTF2_MetricRef metric_class;
  };

  [[nodiscard]] size_t column(const char* name) const;  // kMissing: the table lacks it
  [[nodiscard]] int64_t number(const OrderedRows& row, size_t place) const {
    return place == kMissing ? 0 : row.number(place);
  }
  Otf2Track& track_of(const OrderedRows& row);
  Otf2TrackKey key_of(const OrderedRows& row) const;
  OTF2_RegionRef region_of(const OrderedRows& row);
  OTF2_RegionRole role_of(std::string_view name) const;
  void add_attributes(const OrderedRows& row, bool with_numbers);
  void add_attribute(const Attribute& attribute, const OrderedRows& row);
  void find_attributes(const OrderedRows& row);
  int64_t write_region(const OrderedRows& row);
  // Writes a row as the messages of the arrows that end and begin there. 0: no arrow there has a thread at its other end.
  int64_t write_arrows(const OrderedRows& row);
  void write_message(const OrderedRows& row, uint64_t arrow, bool is_send);
  int64_t write_sample(const OrderedRows& row);
  int64_t write_metrics(const OrderedRows& row);
  int64_t write_io(const OrderedRows& row, Otf2Lane& lane, uint32_t group);

  static constexpr size_t kMissing = SIZE_MAX;

  const Otf2Rule& rule_;
  std::vector<std::string> columns_;
  size_t source_;
  Otf2Shared& shared_;
  std::vector<uint64_t> begins_, ends_;  // arrows of the current row
  std::vector<Attribute> attributes_;
  bool has_attributes_ = false;
  OTF2_AttributeRef no_duration_ = 0;
  std::vector<std::pair<std::vector<bool>, Metrics>> classes_;
  struct Places {
    size_t dur, name, thread_id, proc_id, pid, tid, scope, context, stream, ofd_id, file_id, stack_id;
  } at_;
  struct IoPlaces {
    size_t fd, requested, ret, err, flags, arg2, offset;
  } io_;
  Otf2Track* last_track_ = nullptr;
  int64_t last_thread_ = 0;
};

}  // namespace mlrun::exchange
