// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/unseen_bytes.h"

#include <algorithm>

#include "runner/trace/func_class.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

// What ld.so reads of libraries, and the library of its own process, stays below this: 12 KiB of `true`, 30 KiB of Python
// with NumPy, 44 KiB of PyTorch.
constexpr int64_t kUnseenBytesMin = 256 << 10;
// Small against what was seen; of more than kManyBytes a smaller share tells.
constexpr int64_t kUnseenPercentMin = 10;
constexpr int64_t kManyBytes = 1 << 20;
constexpr int64_t kManyPercentMin = 1;

// Whether the bytes of such calls are in /proc/PID/io: those of sockets' own calls and of pipes' are not.
bool is_counted_by_kernel(uint16_t number) {
  switch (number) {
    case events::func::k_send:
    case events::func::k_sendto:
    case events::func::k_sendmsg:
    case events::func::k_sendmmsg:
    case events::func::k_recv:
    case events::func::k_recvfrom:
    case events::func::k_recvmsg:
    case events::func::k_recvmmsg:
    case events::func::k_vmsplice: return false;
    case events::func::k_sendfile:
    case events::func::k_copy_file_range: return true;
    default: return transfers(number);
  }
}

bool is_worth_telling(int64_t unseen, int64_t kernel) {
  if (unseen < kUnseenBytesMin) return false;
  return unseen / (unseen >= kManyBytes ? kManyPercentMin : kUnseenPercentMin) >= kernel / 100;
}

}  // namespace

void UnseenBytes::add(const model::CallRow& row, int64_t moved) {
  if (!is_counted_by_kernel(row.func)) return;
  const auto process = static_cast<size_t>(row.origin.proc_id);
  if (process >= bytes_.size()) bytes_.resize(process + 1);
  const auto call_class = class_of_func(row.func);
  if (call_class != MLRUN_CLASS_WRITE) util::add_to(bytes_[process].read, moved);
  if (call_class != MLRUN_CLASS_READ) util::add_to(bytes_[process].written, moved);
}

UnseenBytes::Bytes UnseenBytes::bytes_of(int32_t proc_id) const {
  const auto index = static_cast<size_t>(proc_id);
  return index < bytes_.size() ? bytes_[index] : Bytes{};
}

void UnseenBytes::add_rows(const model::TraceInfo& info, const UnseenReasons& reasons,
                           std::vector<model::CoverageRow>& rows) {
  // The kernel adds what a child read and wrote to its parent's totals when the parent has waited for it. Of a child that
  // was killed at least what it recorded is known.
  std::vector<Bytes> of_children(info.processes.size() + 1);
  for (const model::ProcessRow& process : info.processes) {
    const auto parent = static_cast<size_t>(process.parent_proc_id);
    if (parent == 0 || parent >= of_children.size()) continue;
    const Bytes recorded = bytes_of(process.proc_id);
    util::add_to(of_children[parent].read, std::max(process.kernel_rchar, recorded.read));
    util::add_to(of_children[parent].written, std::max(process.kernel_wchar, recorded.written));
  }
  for (const model::LeftOutRow& row : info.left_out) {
    const auto process = static_cast<size_t>(row.proc_id);
    if (process >= bytes_.size()) bytes_.resize(process + 1);
    util::add_to(bytes_[process].read, row.bytes_read);
    util::add_to(bytes_[process].written, row.bytes_written);
  }
  const auto compare = [&](int32_t proc_id, const char* subject, int64_t seen, int64_t kernel, int64_t children) {
    const int64_t unseen = util::sum_of(util::sum_of(kernel, -children), -seen);
    if (kernel < 0 || !is_worth_telling(unseen, kernel)) return;
    rows.push_back({proc_id, subject, reasons.why(proc_id) + "; the kernel counted them", seen, seen + unseen});
  };
  for (const model::ProcessRow& process : info.processes) {
    const auto index = static_cast<size_t>(process.proc_id);
    const Bytes bytes = bytes_of(process.proc_id);
    const Bytes children = index < of_children.size() ? of_children[index] : Bytes{};
    compare(process.proc_id, "bytes read", bytes.read, process.kernel_rchar, children.read);
    compare(process.proc_id, "bytes written", bytes.written, process.kernel_wchar, children.written);
  }
}

}  // namespace mlrun::trace
