// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/trace_maker.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "runner/exchange/import/trace_rows.h"
#include "runner/util/file_io.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kRowBytes = size_t{40} << 20, kFewRowBytes = size_t{16} << 20;
constexpr size_t kLaunchesMax = size_t{1} << 21;
constexpr size_t kFramesMax = size_t{1} << 20, kStackFramesMax = 255;
constexpr size_t kFramesOfStacksMax = size_t{1} << 24;  // of all stacks, 4 bytes each, twice

}  // namespace

TraceMaker::Rows::Rows(trace::StagingFolder folder)
    : staging(std::move(folder)),
      slices(staging.path(), 2 * kRowBytes,
             [](model::SliceRow& row, const auto& texts) {
               row.name = texts[0], row.category = texts[1], row.track = texts[2], row.args = texts[3],
               row.other = texts[4];
             }),
      flows(staging.path(), kFewRowBytes,
            [](model::FlowRow& row, const auto& texts) {
              row.name = texts[0], row.category = texts[1], row.id_text = texts[2], row.args = texts[3];
            }),
      counters(staging.path(), kFewRowBytes,
               [](model::CounterRow& row, const auto& texts) {
                 row.name = texts[0], row.series = texts[1], row.category = texts[2];
               }),
      samples(staging.path(), kFewRowBytes,
              [](model::StackSampleRow& row, const auto& texts) { row.event = texts[0], row.args = texts[1]; }),
      others(staging.path(), kFewRowBytes,
             [](model::OtherEventRow& row, const auto& texts) {
               row.kind = texts[0], row.name = texts[1], row.category = texts[2], row.id = texts[3],
               row.args = texts[4];
             }),
      requests(staging.path(), kFewRowBytes, [](trace::RequestRow&, const auto&) {}),
      fragments(staging.path(), kFewRowBytes, [](trace::FragmentRow&, const auto&) {}),
      torch_memories(staging.path(), kFewRowBytes, [](trace::TorchMemoryTableRow&, const auto&) {}),
      calls(staging.path(), kRowBytes),
      gpu(staging.path(), kRowBytes),
      marks(staging.path(), kFewRowBytes) {}

TraceMaker::TraceMaker(bool shows_progress) : progress_(shows_progress) {}

Result<std::unique_ptr<TraceMaker>> TraceMaker::create(const std::string& folder, bool shows_progress) {
  auto staging = trace::StagingFolder::create(folder);
  if (!staging) return tl::make_unexpected(staging.error());
  if (Status made = util::make_folders(staging->tables()); !made) return tl::make_unexpected(made.error());
  std::unique_ptr<TraceMaker> maker(new TraceMaker(shows_progress));
  maker->rows_ = std::make_unique<Rows>(*std::move(staging));
  return maker;
}

std::string TraceMaker::staging() const { return rows_->staging.path(); }

FileAccount& TraceMaker::begin_file(const std::string& path, const std::string& format) {
  files_.push_back(std::make_unique<FileAccount>());
  file().path = path;
  file().format = format;
  return file();
}

void TraceMaker::count(const char* table, const model::Origin& origin, int64_t end_ns, int64_t of_events) {
  file().keep(table, 1, of_events);
  ids_.lived(origin, end_ns);
  first_ns_ = std::min(first_ns_, origin.ts_ns);
  last_ns_ = std::max(last_ns_, end_ns);
}

Status TraceMaker::add(const model::SliceRow& row) {
  const int64_t end_ns = row.origin.ts_ns + std::max<int64_t>(row.dur_ns, 0);
  count("slice", row.origin, end_ns);
  return rows_->slices.add(end_ns, row, {row.name, row.category, row.track, row.args, row.other});
}

Status TraceMaker::add(const model::FlowRow& row, int64_t of_events) {
  count("flow", row.origin, row.origin.ts_ns, of_events);
  return rows_->flows.add(row.origin.ts_ns, row, {row.name, row.category, row.id_text, row.args});
}

Status TraceMaker::add(const model::CounterRow& row, int64_t of_events) {
  count("counter", row.origin, row.origin.ts_ns, of_events);
  return rows_->counters.add(row.origin.ts_ns, row, {row.name, row.series, row.category});
}

Status TraceMaker::add(const model::StackSampleRow& row) {
  count("stack_sample", row.origin, row.origin.ts_ns);
  return rows_->samples.add(row.origin.ts_ns, row, {row.event, row.args});
}

Status TraceMaker::add(const model::OtherEventRow& row, int64_t of_events) {
  const int64_t end_ns = row.origin.ts_ns + std::max<int64_t>(row.dur_ns, 0);
  if (row.has_time) {
    count("import_event", row.origin, end_ns, of_events);
  } else {
    file().keep("import_event", 1, of_events);
  }
  return rows_->others.add(end_ns, row, {row.kind, row.name, row.category, row.id, row.args});
}

Status TraceMaker::add(const model::CallRow& row) {
  count("call", row.origin, row.origin.ts_ns + row.dur_ns);
  return rows_->calls.add(row.origin.ts_ns + row.dur_ns, row, {std::string_view()});
}

Status TraceMaker::add(const model::GpuWorkRow& row, std::string_view name, uint32_t join) {
  static constexpr std::array<const char*, model::kGpuKinds> kTables = {
      "gpu_api", "gpu_kernel", "gpu_memcpy", "gpu_memset", "gpu_sync", "gpu_memory", "gpu_graph"};
  static_assert(kTables.back() != nullptr);
  const int64_t end_ns = row.origin.ts_ns + row.dur_ns;
  count(kTables[static_cast<size_t>(row.kind)], row.origin, end_ns);
  if (row.kind == model::GpuKind::kApi && row.correlation != 0) {
    const uint64_t key = static_cast<uint64_t>(join) << 32 | row.correlation;
    if (rows_->launches.size() < kLaunchesMax || rows_->launches.find(key) != nullptr) {
      rows_->launches.at(key) = {row.origin.thread_id, row.origin.proc_id, row.origin.ts_ns};
    } else {
      ++file().remarks["a call beyond two million, so the work that it launched has no thread"];
    }
  }
  return rows_->gpu.add(end_ns, {join, row}, {name});
}

Status TraceMaker::add(const model::MarkRow& row) {
  count("mark", row.origin, row.origin.ts_ns + std::max<int64_t>(row.dur_ns, 0));
  const MarkFields fields{row.origin, row.dur_ns, row.error_ns, row.is_open};
  return rows_->marks.add(row.origin.ts_ns, fields, {row.domain, row.name, row.value, row.scope});
}

Status TraceMaker::add(const model::TorchMemoryRow& row) {
  const int64_t ts_ns = row.origin.ts_ns;
  count("torch_memory", row.origin, ts_ns);
  return rows_->torch_memories.add(ts_ns, {ts_ns, ts_ns, row, false}, {std::string_view()});
}

Status TraceMaker::add_block(int64_t dev, const model::Origin& origin, int64_t end_ns, int64_t sector, int64_t bytes,
                             bool is_write) {
  count("block", origin, end_ns);
  trace::RequestRow request;
  request.ts_ns = origin.ts_ns;
  request.end_ns = end_ns;
  mlrun_block_request& record = request.record;
  record.request = static_cast<uint64_t>(++rows_->requests_made);
  record.queued_at_ns = record.issued_at_ns = static_cast<uint64_t>(origin.ts_ns);
  record.sector = sector < 0 ? UINT64_MAX : static_cast<uint64_t>(sector);
  record.bytes = static_cast<uint32_t>(bytes);
  record.device = static_cast<uint32_t>(dev);
  record.op = is_write ? MLRUN_BLOCK_WRITE : MLRUN_BLOCK_READ;
  record.issues = record.fragments = 1;
  if (Status added = rows_->requests.add(end_ns, request, {std::string_view()}); !added) return added;
  trace::FragmentRow fragment;
  fragment.ts_ns = origin.ts_ns;
  fragment.end_ns = end_ns;
  fragment.origin = origin;
  fragment.record.request = record.request;
  fragment.record.queued_at_ns = fragment.record.issued_at_ns = record.issued_at_ns;
  fragment.record.sector = record.sector;
  fragment.record.bytes = record.bytes;
  fragment.record.device = record.device;
  fragment.record.op = record.op;
  file().kept["block_part"].rows += 1;
  return rows_->fragments.add(end_ns, fragment, {std::string_view()});
}

uint32_t TraceMaker::library(const std::string& path) {
  if (path.empty()) return 0;
  auto& files = info_.stacks.files;
  const auto [found, made] = libraries_.try_emplace(path, static_cast<uint32_t>(files.size()) + 1);
  if (made) files.push_back({path, {}});
  return found->second;
}

int32_t TraceMaker::later_stack() {
  later_stacks_.push_back(0);
  return -static_cast<int32_t>(later_stacks_.size());
}

int32_t TraceMaker::stack(const std::vector<model::FrameRow>& frames) {
  model::StackTable& table = info_.stacks;
  std::vector<int32_t> ids;
  if (frames.size() > kStackFramesMax) ++file().remarks["a stack of more than 255 frames, without the outer ones"];
  for (const model::FrameRow& frame : frames) {
    if (ids.size() == kStackFramesMax) break;
    std::string key = frame.function + '\0' + frame.source + '\0' + std::to_string(frame.file) + '/' +
                      std::to_string(frame.offset) + '/' + std::to_string(frame.line);
    const auto [found, made] = frames_.try_emplace(std::move(key), static_cast<int32_t>(table.frames.size()) + 1);
    if (made) {
      if (table.frames.size() >= kFramesMax) {
        frames_.erase(found);
        ++file().remarks["a stack with a frame beyond a million, left out"];
        return 0;
      }
      table.frames.push_back(frame);
    }
    ids.push_back(found->second);
  }
  if (ids.empty()) return 0;
  const std::string key(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof ids[0]);
  if (const auto known = stacks_.find(key); known != stacks_.end()) return known->second;
  if (table.frame_ids.size() > kFramesOfStacksMax) {
    ++file().remarks["a stack beyond the most that fit in memory, left out"];
    return 0;
  }
  const auto stack_id = static_cast<int32_t>(table.stacks.size()) + 1;
  stacks_.emplace(key, stack_id);
  table.stacks.push_back({static_cast<uint32_t>(table.frame_ids.size()), static_cast<uint8_t>(ids.size()), 0});
  table.frame_ids.insert(table.frame_ids.end(), ids.begin(), ids.end());
  return stack_id;
}

}  // namespace mlrun::exchange
