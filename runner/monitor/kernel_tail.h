// SPDX-License-Identifier: Apache-2.0
// Reads the kernel side's spool (runner/events/spool.h) while mlrun-probes writes it. The bytes are untrusted; an
// incomplete frame is read later.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runner/decode/kernel_view.h"
#include "runner/util/unique_fd.h"

namespace mlrun::monitor {

class KernelTail {
 public:
  explicit KernelTail(const std::string& path);

  // Passes on new records in order. Reads `most_bytes` at most, so that a fast-growing file does not block the caller;
  // true: there may be more.
  bool read(const std::function<void(const events::KernelReader&)>& take, uint64_t most_bytes = 8 << 20);

  [[nodiscard]] uint64_t offset() const { return offset_; }

 private:
  bool read_payload(uint64_t offset, uint32_t bytes);

  util::UniqueFd file_;
  uint64_t offset_ = 0;
  std::vector<uint64_t> payload_;
};

}  // namespace mlrun::monitor
