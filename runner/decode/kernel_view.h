// SPDX-License-Identifier: Apache-2.0
// Iterates over the records of a kernel frame (kernel_record.h). Input is untrusted: no read leaves the payload, and a
// malformed record ends the iteration and is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "runner/events/kernel_record.h"

namespace mlrun::decode {

// Makes one visitor of several lambdas.
template <typename... Visits>
struct Visitor : Visits... {
  using Visits::operator()...;
};
template <typename... Visits>
Visitor(Visits...) -> Visitor<Visits...>;

class KernelReader {
 public:
  // Requires: `payload` is 8-byte aligned and outlives the reader.
  KernelReader(const uint64_t* payload, size_t bytes)
      : at_(reinterpret_cast<const char*>(payload)), left_(bytes / sizeof(uint64_t) * sizeof(uint64_t)) {
    damaged_bytes_ = bytes - left_;
  }

  // Advances to the next record; false at the end.
  bool next() {
    at_ += head_.bytes;
    left_ -= head_.bytes;
    if (left_ >= sizeof head_) {
      mlrun_kernel_head head{};
      std::memcpy(&head, at_, sizeof head);
      if (head.bytes >= sizeof head && head.bytes % sizeof(uint64_t) == 0 && head.bytes <= left_) {
        head_ = head;
        return true;
      }
    }
    damaged_bytes_ += left_;
    left_ = 0;
    head_ = {};
    return false;
  }

  [[nodiscard]] const mlrun_kernel_head& head() const { return head_; }

  // Returns false if the record is shorter than its kind requires.
  template <typename T>
  [[nodiscard]] bool read(T& record) const {
    if (head_.bytes < sizeof record) return false;
    std::memcpy(&record, at_, sizeof record);
    return true;
  }

  // Calls `visit` with the record, as the struct of its kind. A kind that `visit` does not take is ignored. Returns false if the record is shorter
  // than its kind requires, or of an unknown kind.
  template <typename Visit>
  bool visit(const Visit& visit) const {
    switch (static_cast<mlrun_kernel_kind>(head_.kind)) {
      case MLRUN_KERNEL_REQUEST: return visit_as<mlrun_block_request>(visit);
      case MLRUN_KERNEL_FRAGMENT: return visit_as<mlrun_bio_fragment>(visit);
      case MLRUN_KERNEL_WAIT: return visit_as<mlrun_wait>(visit);
      case MLRUN_KERNEL_LOSS: return visit_as<mlrun_kernel_loss>(visit);
      case MLRUN_KERNEL_PAGES: return visit_as<mlrun_page_add>(visit);
      case MLRUN_KERNEL_FILE_OP: return visit_as<mlrun_file_op>(visit);
      case MLRUN_KERNEL_REMOTE: return visit_as<mlrun_remote>(visit);
      case MLRUN_KERNEL_SYSCALL: return visit_as<mlrun_syscall_sum>(visit);
      case MLRUN_KERNEL_FILE_DONE: return visit_as<mlrun_file_done>(visit);
      case MLRUN_KERNEL_CUDA: return visit_as<mlrun_cuda_call>(visit);
      case MLRUN_KERNEL_CUFILE: return visit_as<mlrun_cufile_call>(visit);
      case MLRUN_KERNEL_TORCH: return visit_as<mlrun_torch_memory>(visit);
      case MLRUN_KERNEL_STACK: return visit_as<mlrun_stack_part>(visit);
      case MLRUN_KERNEL_CUFILE_PART: return visit_as<mlrun_cufile_part>(visit);
      case MLRUN_KERNEL_TASK: return visit_as<mlrun_task>(visit);
      case MLRUN_KERNEL_PROCESS: return visit_as<mlrun_process_seen>(visit);
      case MLRUN_KERNEL_FILE_SEEN: return visit_as<mlrun_file_seen>(visit);
      case MLRUN_KERNEL_FILE_PATH: return visit_as<mlrun_file_path>(visit);
      case MLRUN_KERNEL_FILE_NAME: return visit_as<mlrun_file_name>(visit);
      case MLRUN_KERNEL_MAPPINGS: return visit_as<mlrun_mappings_seen>(visit);
      case MLRUN_KERNEL_MEMORY: return visit_as<mlrun_memory_seen>(visit);
      case MLRUN_KERNEL_KINDS: break;
    }
    return false;
  }

  // Bytes after a record's fixed part. Requires: offset + bytes <= head().bytes.
  [[nodiscard]] std::string_view text(size_t offset, size_t bytes) const { return {at_ + offset, bytes}; }

  // Like text(), but empty if the record is too short.
  [[nodiscard]] std::string_view text_behind(size_t offset, size_t bytes) const {
    return head_.bytes >= offset + bytes ? text(offset, bytes) : std::string_view();
  }

  [[nodiscard]] size_t damaged_bytes() const { return damaged_bytes_; }

 private:
  template <typename Record, typename Visit>
  bool visit_as(const Visit& visit) const {
    if constexpr (std::is_invocable_v<Visit, const Record&>) {
      Record record{};
      if (!read(record)) return false;
      visit(record);
    }
    return true;
  }

  const char* at_;
  size_t left_;
  size_t damaged_bytes_ = 0;
  mlrun_kernel_head head_{};
};

}  // namespace mlrun::decode
