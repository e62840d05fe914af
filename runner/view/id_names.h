// SPDX-License-Identifier: Apache-2.0
// Names of ids: a column of names for a column of ids, loaded on first use from the table that defines them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::view {

class IdNames {
 public:
  void put(int64_t id, std::string_view name);
  // "" when the id is unknown.
  [[nodiscard]] std::string_view name(int64_t id) const;

 private:
  static constexpr int64_t kDense = int64_t{1} << 26;
  std::vector<std::string> dense_;  // by id; used while ids come nearly in order
  std::unordered_map<int64_t, std::string> sparse_;
};

// A name column that replaces an id column: call.path for call.file_id, and so on.
struct NamedId {
  const char* id_column;
  const char* name_column;
  const char* table;       // table that defines the ids; nullptr: the ids are errno numbers
  const char* table_id;    // column of ids in that table
  const char* table_name;  // column of names in that table
};

// The name column that belongs to an id column (or the reverse); nullptr: none.
[[nodiscard]] const NamedId* named_id(const std::string& id_column);
[[nodiscard]] const NamedId* named_id_by_name(const std::string& name_column);

class IdNameTables {
 public:
  explicit IdNameTables(std::string trace_folder) : trace_folder_(std::move(trace_folder)) {}
  Result<std::shared_ptr<const IdNames>> load(const NamedId& named);

 private:
  std::string trace_folder_;
  std::map<std::string, std::shared_ptr<const IdNames>> loaded_;  // by table and name column
};

}  // namespace mlrun::view
