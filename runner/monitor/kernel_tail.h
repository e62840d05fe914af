// SPDX-License-Identifier: Apache-2.0
// Reads the kernel side's spool (runner/events/spool.h) while mlrun-probes writes it. The content is untrusted. A frame
// that is not complete yet is read by a later call.
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

  // Passes new records to `take`, in their order. Reads `most_bytes` at most, so that a fast-growing file does not block
  // the caller. True: there may be more records.
  bool read(const std::function<void(const decode::KernelReader&)>& take, uint64_t most_bytes = 8 << 20);

  [[nodiscard]] uint64_t offset() const { return offset_; }

 private:
  bool read_payload(uint64_t offset, uint32_t bytes);

  util::UniqueFd file_;
  uint64_t offset_ = 0;
  std::vector<uint64_t> payload_;
};

}  // namespace mlrun::monitor
