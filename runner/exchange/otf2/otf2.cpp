// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/otf2.h"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "runner/exchange/each_row.h"
#include "runner/exchange/flow_arrows.h"
#include "runner/exchange/merged_rows.h"
#include "runner/exchange/otf2/archive.h"
#include "runner/exchange/otf2/row_writer.h"
#include "runner/exchange/otf2/table_rules.h"

namespace mlrun::exchange {

namespace {

struct FreeAttributes {
  void operator()(OTF2_AttributeList* list) const { OTF2_AttributeList_Delete(list); }
};

class Otf2Export {
 public:
  Otf2Export(Export& job, Otf2Archive& archive) : job_(job), archive_(archive), places_(definitions_) {}

  Status run() {
    if (auto defined = define(); !defined) return defined;
    if (auto started = start(); !started) return started;
    uint64_t locations = 1;
    for (uint64_t pass = 0; pass * Otf2Tracks::kLocationsAtOnce < locations && archive_.good(); ++pass) {
      if (auto written = write_pass(pass, locations); !written) return written;
    }
    archive_.finish_events(locations);
    definitions_.write(
        {.host = job_.run().host.name,
         .first_ns = uint64_t(first_ns_ + archive_.later_ns()),
         .last_ns = uint64_t(last_ns_ + archive_.later_ns()),
         .realtime_ns = job_.knows_utc() ? uint64_t(first_ns_ + job_.realtime_offset_ns()) : OTF2_UNDEFINED_TIMESTAMP},
        archive_);
    std::set<std::string> handled = {"process", "thread", "file", "stack", "frame", "name"};
    for (const Otf2Rule& rule : otf2_rules()) handled.insert(rule.table);
    if (auto counted = leave_out_others(job_, handled, "no events; OTF2 has no place for it"); !counted) return counted;
    return archive_.finish();
  }

 private:
  Status start() {
    std::vector<std::string> tables;
    for (const Otf2Rule& rule : otf2_rules()) tables.emplace_back(rule.table);
    const auto earliest = job_.earliest(tables);
    if (!earliest) return tl::make_unexpected(earliest.error());
    first_ns_ = last_ns_ = *earliest;
    archive_.set_later(std::max<int64_t>(-*earliest, 0));
    if (archive_.later_ns() != 0) {
      job_.account().note(
          fmt::format("all times are {} ns later: the format has no times before 0", archive_.later_ns()));
    }
    return {};
  }

  Status define() {
    if (auto loaded = places_.load(job_); !loaded) return loaded;
    if (auto loaded = define_files(); !loaded) return loaded;
    return define_stacks();
  }

  Status define_files() {
    const auto read = each_row(
        job_, "file", {"file_id", "path", "kind", "file_system", "mount", "dev", "ino", "address"},
        [&](const Row& row) {
          std::vector<Otf2Property> properties;
          for (const auto& [place, name] : {std::pair(2, "kind"), {3, "File system"}, {4, "mount"}, {7, "address"}}) {
            if (!row.is_null(place)) properties.push_back(definitions_.property(name, row.text(place)));
          }
          for (const auto& [place, name] : {std::pair(5, "dev"), {6, "ino"}}) {
            if (!row.is_null(place)) properties.push_back(definitions_.property(name, row.number(place)));
          }
          definitions_.add_file(OTF2_IoFileRef(row.number(0) - 1), row.text(1), row.text(2) == "directory",
                                std::move(properties));
        });
    if (!read) return tl::make_unexpected(read.error());
    job_.account().wrote("file", *read, *read);
    const auto names = job_.names("name_id");
    if (!names) return tl::make_unexpected(names.error());
    names_ = *names;
    const auto paths = job_.names("file_id");
    if (!paths) return tl::make_unexpected(paths.error());
    paths_ = *paths;
    const auto count = rows_in(job_, "name");
    if (!count) return tl::make_unexpected(count.error());
    job_.account().wrote("name", *count, *count);
    return {};
  }

  struct Frame {
    OTF2_RegionRef function;
    std::string source;
    uint32_t line;
  };

  Status define_stacks() {
    std::vector<Frame> frames(1);
    auto read = each_row(job_, "frame", {"frame_id", "function", "label", "source", "line"}, [&](const Row& row) {
      const std::string_view name = row.is_null(1) ? row.text(2) : row.text(1);
      frames.resize(std::max<size_t>(frames.size(), size_t(row.number(0)) + 1));
      frames[size_t(row.number(0))] = {
          definitions_.region(name, {"frame", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_SAMPLING}),
          std::string(row.text(3)), uint32_t(row.number(4))};
    });
    if (!read) return tl::make_unexpected(read.error());
    job_.account().wrote("frame", *read, *read);
    // A stack's rows come innermost first; a calling context is made from the outermost one on.
    std::vector<size_t> open;
    int64_t stack_id = 0;
    const auto close = [&] {
      OTF2_CallingContextRef context = OTF2_UNDEFINED_CALLING_CONTEXT;
      for (auto frame = open.rbegin(); frame != open.rend(); ++frame) {
        if (*frame >= frames.size()) continue;
        context =
            definitions_.calling_context(context, frames[*frame].function, frames[*frame].source, frames[*frame].line);
      }
      if (stack_id >= 0)
        contexts_.resize(std::max(contexts_.size(), size_t(stack_id) + 1), OTF2_UNDEFINED_CALLING_CONTEXT);
      contexts_[size_t(stack_id)] = context;
      open.clear();
    };
    read = each_row(job_, "stack", {"stack_id", "frame_id"}, [&](const Row& row) {
      if (row.number(0) != stack_id) close();
      stack_id = row.number(0);
      open.push_back(size_t(row.number(1)));
    });
    if (!read) return tl::make_unexpected(read.error());
    close();
    job_.account().wrote("stack", *read, *read);
    return {};
  }

  Status write_pass(uint64_t pass, uint64_t& locations) {
    const std::unique_ptr<OTF2_AttributeList, FreeAttributes> attributes(OTF2_AttributeList_New());
    Otf2Tracks tracks(archive_, definitions_, pass, [&](const Otf2TrackKey& key) { return places_.describe(key); });
    Otf2IoHandles handles(definitions_);
    FlowArrows flows;
    Otf2Shared shared{definitions_, places_, tracks, handles, attributes.get(), *names_, *paths_, contexts_, flows};
    for (const ExportNode& node : job_.nodes()) {
      places_.begin_node(node.id);
      auto found = FlowArrows::find(job_, node.id, flow_sources(), flows.next_number());
      if (!found) return tl::make_unexpected(found.error());
      flows = *std::move(found);
      if (auto written = write_node(node.id, pass == 0, shared); !written) return written;
      tracks.finish();
    }
    if (tracks.locations() == 0) {  // an archive without locations cannot be read
      tracks.track({Otf2TrackKind::kRun, 0, 0, 0, "event"});
      tracks.finish();
    }
    locations = tracks.locations();
    return {};
  }

  static std::vector<FlowSource> flow_sources() {
    std::vector<FlowSource> sources;
    for (const Otf2Rule& rule : otf2_rules()) {
      const bool is_flow = std::string_view(rule.table) == "flow";
      sources.push_back({rule.table, is_flow ? FlowSource::Kind::kFlow : FlowSource::Kind::kNone});
    }
    return sources;
  }

  Status write_node(int64_t node_id, bool counts, Otf2Shared& shared) {
    std::vector<OrderedRows> tables;
    std::vector<Otf2RowWriter> writers;
    for (const Otf2Rule& rule : otf2_rules()) {
      const auto columns = columns_of(job_, rule.table);
      if (!columns) return tl::make_unexpected(columns.error());
      auto rows = OrderedRows::open(job_, rule.table, *columns, node_id);
      if (!rows) return tl::make_unexpected(rows.error());
      writers.emplace_back(rule, *columns, writers.size(), shared);
      tables.push_back(*std::move(rows));
    }
    MergedRows merged(std::move(tables));
    std::vector<std::pair<int64_t, int64_t>> counts_of(writers.size());  // rows, events
    while (archive_.good()) {
      const auto row = merged.next();
      if (!row) return tl::make_unexpected(row.error());
      if (*row == nullptr) break;
      last_ns_ = std::max(last_ns_, (*row)->end());
      auto& [rows, events] = counts_of[merged.number()];
      ++rows;
      events += writers[merged.number()].write(**row);
    }
    for (size_t i = 0; counts && i < writers.size(); ++i) {
      job_.account().wrote(otf2_rules()[i].table, counts_of[i].first, counts_of[i].second);
      job_.account().left_out(otf2_rules()[i].table, kNotWanted, merged.tables()[i].unwanted());
    }
    return {};
  }

  Export& job_;
  Otf2Archive& archive_;
  Otf2Definitions definitions_;
  Otf2Places places_;
  std::shared_ptr<const view::IdNames> names_, paths_;
  std::vector<OTF2_CallingContextRef> contexts_;
  int64_t first_ns_ = 0, last_ns_ = 0;
};

}  // namespace

Status write_otf2(Export& job) {
  auto archive = Otf2Archive::create(job.output());
  if (!archive) return tl::make_unexpected(archive.error());
  return Otf2Export(job, **archive).run();
}

}  // namespace mlrun::exchange
