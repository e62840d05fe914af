// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/gpu_pids.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/proc_files.h"
#include "runner/util/proc_lines.h"

namespace mlrun::gpu {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kScanNs = 1'000'000'000, kLongestPauseNs = 32'000'000'000;
constexpr std::string_view kDevice = "/dev/nvidia", kOtherDevice = "/dev/dxg", kCudaLibrary = "/libcuda.so";

// The pids of a line "NSpid: 400 7 1": in our pid namespace, in the nested ones, in the process's own.
std::vector<uint32_t> namespace_pids(const std::string& process) {
  const std::string status = util::read_text(process + "/status");
  std::vector<uint32_t> numbers;
  for (const std::string_view word : util::status_words(status, "NSpid:"))
    numbers.push_back(util::leading_number<uint32_t>(word));
  return numbers;
}

}  // namespace

bool GpuPids::uses_gpu(const std::string& process) const {
  if (util::read_text(process + "/maps").find(kCudaLibrary) != std::string::npos) return true;
  std::error_code error;
  for (fs::directory_iterator fd(process + "/fd", error), end; !error && fd != end; fd.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(fd->path(), gone).string();
    if (target.starts_with(kDevice) || target == kOtherDevice) return true;
  }
  return false;
}

void GpuPids::look_for_users() {
  users_.clear();
  for (const uint32_t pid : util::numbers_in(proc_)) {
    const std::string process = proc_ + "/" + std::to_string(pid);
    if (!uses_gpu(process)) continue;
    std::vector<uint32_t> numbers = namespace_pids(process);
    if (!numbers.empty()) numbers.erase(numbers.begin());
    users_.push_back({pid, std::move(numbers)});
  }
}

GpuPid GpuPids::find(uint32_t driver_pid) const {
  for (const User& user : users_) {
    if (user.pid == driver_pid) return {user.pid, MLRUN_PID_SAME};
  }
  GpuPid found;
  for (const User& user : users_) {
    if (std::find(user.inside.begin(), user.inside.end(), driver_pid) == user.inside.end()) continue;
    if (found.pid != 0) return {};
    found = {user.pid, MLRUN_PID_NAMESPACE};
  }
  return found;
}

// A new number causes a scan of /proc; an unresolved one causes rescans at growing intervals.
bool GpuPids::should_scan(const std::vector<uint32_t>& driver_pids, uint64_t now_ns) {
  bool is_new = false, is_open = false;
  for (const uint32_t pid : driver_pids) {
    const auto found = known_.find(pid);
    is_new = is_new || found == known_.end();
    is_open = is_open || (found != known_.end() && found->second.pid == 0);
  }
  if (now_ns < next_scan_ns_ || (!is_new && !(is_open && now_ns >= rescan_ns_))) return false;
  pause_ns_ = is_new ? kScanNs : std::min(pause_ns_ * 5 / 4, kLongestPauseNs);
  next_scan_ns_ = now_ns + kScanNs;
  rescan_ns_ = now_ns + pause_ns_;
  return true;
}

std::vector<GpuPid> GpuPids::resolve(const std::vector<uint32_t>& driver_pids, uint64_t now_ns) {
  // A number that disappeared may belong to another process when it reappears.
  std::erase_if(known_, [&](const auto& known) {
    return std::find(driver_pids.begin(), driver_pids.end(), known.first) == driver_pids.end();
  });
  if (should_scan(driver_pids, now_ns)) {
    look_for_users();
    known_.clear();
    for (const uint32_t pid : driver_pids) known_[pid] = find(pid);
    const bool one_each = known_.size() == 1 && users_.size() == 1;
    if (one_each && known_.begin()->second.pid == 0) known_.begin()->second = {users_.front().pid, MLRUN_PID_ONLY};
  }
  std::vector<GpuPid> pids;
  for (const uint32_t pid : driver_pids) {
    const auto found = known_.find(pid);
    pids.push_back(found == known_.end() ? GpuPid{} : found->second);
  }
  return pids;
}

}  // namespace mlrun::gpu
