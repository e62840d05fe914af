// SPDX-License-Identifier: Apache-2.0
#include "runner/view/id_names.h"

#include <array>
#include <cstring>

#include <arrow/api.h>

#include "runner/parquet/table_batches.h"
#include "runner/summary/names.h"
#include "runner/view/column.h"

namespace mlrun::view {
namespace {

constexpr int kLargestErrno = 4095;

constexpr std::array<NamedId, 11> kNamedIds = {{
    {"file_id", "path", "file", "file_id", "path"},
    {"file2_id", "path2", "file", "file_id", "path"},
    {"thread_id", "comm", "thread", "thread_id", "comm"},
    {"proc_id", "command", "process", "proc_id", "command"},
    {"parent_proc_id", "parent_command", "process", "proc_id", "command"},
    {"image_id", "exe", "image", "image_id", "exe"},
    {"site_library", "library", "name", "name_id", "name"},
    {"name_id", "name", "name", "name_id", "name"},
    {"frame_id", "frame", "frame", "frame_id", "label"},
    {"gpu_id", "gpu", "gpu", "gpu_id", "uuid"},
    {"err", "error", nullptr, nullptr, nullptr},
}};

std::shared_ptr<const IdNames> errno_names() {
  auto names = std::make_shared<IdNames>();
  for (int err = 1; err <= kLargestErrno; ++err) {
    if (strerrorname_np(err) != nullptr) names->put(err, summary::errno_name(err));
  }
  return names;
}

}  // namespace

void IdNames::put(int64_t id, std::string_view name) {
  const bool near = id >= 0 && id < kDense && size_t(id) <= 2 * dense_.size() + 1024;
  if (!near) {
    sparse_.emplace(id, name);
    return;
  }
  if (size_t(id) >= dense_.size()) dense_.resize(size_t(id) + 1);
  dense_[size_t(id)] = name;
}

std::string_view IdNames::name(int64_t id) const {
  if (id >= 0 && size_t(id) < dense_.size() && !dense_[size_t(id)].empty()) return dense_[size_t(id)];
  const auto found = sparse_.find(id);
  return found == sparse_.end() ? std::string_view() : found->second;
}

const NamedId* named_id(const std::string& id_column) {
  for (const NamedId& named : kNamedIds) {
    if (id_column == named.id_column) return &named;
  }
  return nullptr;
}

const NamedId* named_id_by_name(const std::string& name_column) {
  for (const NamedId& named : kNamedIds) {
    if (name_column == named.name_column) return &named;
  }
  return nullptr;
}

Result<std::shared_ptr<const IdNames>> IdNameTables::load(const NamedId& named) {
  auto& loaded = loaded_[named.table ? std::string(named.table) + "." + named.table_name : "errno"];
  if (loaded) return loaded;
  if (!named.table) return loaded = errno_names();
  if (!tables::has_table(trace_folder_ + "/tables", named.table)) {  // traces of earlier versions lack the table
    return loaded = std::make_shared<IdNames>();
  }
  auto reader = tables::TableReader::open(trace_folder_, named.table, {.columns = {named.table_id, named.table_name}});
  if (!reader) return tl::make_unexpected(reader.error());
  auto names = std::make_shared<IdNames>();
  const auto schema = reader->schema();
  auto ids = Column::make(named.table_id, named.table_id, *schema->GetFieldByName(named.table_id)->type(), nullptr);
  auto texts =
      Column::make(named.table_name, named.table_name, *schema->GetFieldByName(named.table_name)->type(), nullptr);
  if (!ids || !texts || ids->type() != Column::Type::kNumber || texts->type() != Column::Type::kText) {
    return fail("cannot read table " + std::string(named.table) + " of " + trace_folder_ +
                ": its columns have unexpected types; the trace is damaged, or of another version of mlrun");
  }
  const Status read = tables::for_each_batch(*reader, [&](const arrow::RecordBatch& batch) {
    ids->bind(batch);
    texts->bind(batch);
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      if (!ids->is_null(row) && !texts->is_null(row)) names->put(ids->number(row), texts->text(row));
    }
  });
  if (!read) return tl::make_unexpected(read.error());
  loaded = std::move(names);
  return loaded;
}

}  // namespace mlrun::view
