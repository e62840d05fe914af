// SPDX-License-Identifier: Apache-2.0
// Which code maps anonymous memory, and how many bytes: an allocator that does so is in use.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "runner/model/rows.h"

namespace mlrun::trace {

class MappingCallers {
 public:
  using Bytes = std::map<std::pair<int32_t, uint64_t>, int64_t>;  // by proc_id and return address

  void add(const model::CallRow& row);  // rows of mmap

  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace mlrun::trace
