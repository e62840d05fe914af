// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/access_row.h"

#include <array>
#include <cmath>
#include <string_view>

#include "runner/decode/perf_sample.h"
#include "runner/parquet/row_columns.h"
#include "runner/util/access_rungs.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;
using tables::kSplit;
using tables::value_if;

constexpr std::array<const char*, MLRUN_ACCESS_KINDS> kOpTexts = {"unknown", "fault",   "load",
                                                                  "store",   "touched", "written"};
static_assert(kOpTexts.back() != nullptr);

double share_of(double part, int64_t whole) { return whole > 0 ? part / static_cast<double>(whole) : 0; }

std::optional<int64_t> in_ppm(const std::optional<double>& share) {
  return value_if(share.has_value(), static_cast<int64_t>(std::llround(share.value_or(0) * 1e6)));
}

}  // namespace

void AccessSiteRow::add(const AccessSiteRow& other) {
  for (const auto sum :
       {&AccessSiteRow::blocks, &AccessSiteRow::bytes, &AccessSiteRow::lifetime_ns, &AccessSiteRow::pages,
        &AccessSiteRow::touched_pages, &AccessSiteRow::samples, &AccessSiteRow::loads, &AccessSiteRow::stores,
        &AccessSiteRow::faults, &AccessSiteRow::remote, &AccessSiteRow::with_source, &AccessSiteRow::with_latency})
    this->*sum += other.*sum;
  for (const auto sum : {&AccessSiteRow::byte_s, &AccessSiteRow::seen_byte_s, &AccessSiteRow::touched_byte_s,
                         &AccessSiteRow::shared_byte_s, &AccessSiteRow::latency_sum})
    this->*sum += other.*sum;
}

std::optional<double> AccessSiteRow::hot_fraction() const {
  if (util::records_events(rung))
    return value_if(pages > 0, static_cast<double>(touched_pages) / static_cast<double>(pages > 0 ? pages : 1));
  return value_if(seen_byte_s > 0, touched_byte_s / (seen_byte_s > 0 ? seen_byte_s : 1));
}

struct AccessColumns {
  static constexpr const char* kTable = "access";
  static void visit(auto& visitor, const AccessRow& row) {
    const mlrun_access_sample& sample = row.sample;
    const decode::DataSource source = decode::read_data_source(sample.data_source);
    const bool has_source = sample.data_source != 0;
    visitor("ts", row.ts_ns, kDelta);
    visitor("dur", row.dur_ns);
    visitor.optional("proc_id", row.who.proc_id, 0);
    visitor.optional("thread_id", sample.host_tid == 0 ? 0 : row.who.thread_id, 0);
    visitor("pid", static_cast<int32_t>(sample.host_pid));
    visitor.optional("tid", static_cast<int32_t>(sample.host_tid), 0);
    visitor.optional("cpu", int32_t{sample.cpu}, -1);
    visitor.label("rung", sample.rung < util::kAccessRungNames.size() ? sample.rung : 0, util::kAccessRungNames);
    visitor.label("op", sample.kind < kOpTexts.size() ? sample.kind : 0, kOpTexts);
    visitor("addr", static_cast<int64_t>(sample.address), kSplit);
    visitor("bytes", static_cast<int64_t>(sample.bytes));
    visitor("touched_bytes", static_cast<int64_t>(sample.touched_bytes));
    visitor("resident_bytes", static_cast<int64_t>(sample.resident_bytes));
    visitor("huge_bytes", static_cast<int64_t>(sample.huge_bytes));
    visitor("filling", (sample.flags & MLRUN_ACCESS_FILLING) != 0);
    visitor("is_first", row.is_first);
    visitor("count", static_cast<int64_t>(sample.count));
    visitor.optional("count_max", static_cast<int64_t>(sample.count_max), 0);
    visitor.optional("latency", static_cast<int64_t>(sample.latency), 0);
    visitor.optional("level", std::string_view(source.level));
    visitor.optional("hit", value_if(has_source, static_cast<int32_t>(source.hit)));
    visitor.optional("remote", value_if(has_source, static_cast<int32_t>(source.remote)));
    visitor.optional("snoop", std::string_view(source.snoop));
    visitor.optional("translation", std::string_view(source.translation));
    visitor.optional("data_source", static_cast<int64_t>(sample.data_source), 0);
    visitor.optional("ip", static_cast<int64_t>(sample.ip), 0);
    visitor.optional("block_addr", value_if(row.has_block, static_cast<int64_t>(row.block_address)));
    visitor.optional("block_ts", value_if(row.has_block, row.block_ts_ns));
    visitor.optional("site_library", row.site.site_library, 0);
    visitor.optional("site_offset", value_if(row.site.site_library != 0, row.site.site_offset));
    visitor.optional("stack_id", row.site.stack_id, 0);
  }
};

struct AccessSiteColumns {
  static constexpr const char* kTable = "access_site";
  static void visit(auto& visitor, const AccessSiteRow& row) {
    visitor.label("rung", row.rung < util::kAccessRungNames.size() ? row.rung : 0, util::kAccessRungNames);
    visitor("proc_id", row.site.proc_id);
    visitor.optional("site_library", row.site.site_library, 0);
    visitor.optional("site_offset", value_if(row.site.site_library != 0, row.site.site_offset));
    visitor.optional("stack_id", row.site.stack_id, 0);
    visitor("blocks", row.blocks);
    visitor("bytes", row.bytes);
    visitor("lifetime", row.blocks > 0 ? row.lifetime_ns / row.blocks : 0);
    visitor("byte_s", std::llround(row.byte_s));
    visitor("seen_byte_s", std::llround(row.seen_byte_s));
    visitor.optional("hot_ppm", in_ppm(row.hot_fraction()));
    visitor("samples", row.samples);
    visitor("loads", row.loads);
    visitor("stores", row.stores);
    visitor("faults", row.faults);
    visitor.optional("latency",
                     value_if(row.with_latency > 0, std::llround(share_of(row.latency_sum, row.with_latency))));
    visitor.optional("remote_ppm",
                     in_ppm(value_if(row.with_source > 0, share_of(static_cast<double>(row.remote), row.with_source))));
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::AccessColumns, mlrun::trace::AccessRow>;
template class mlrun::tables::RowTable<mlrun::trace::AccessSiteColumns, mlrun::trace::AccessSiteRow>;
