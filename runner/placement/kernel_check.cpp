// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/kernel_check.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "runner/util/id_list.h"
#include "runner/util/mapping.h"

namespace mlrun::placement {

namespace {

constexpr size_t kPageBytes = 4096, kWordBits = sizeof(unsigned long) * CHAR_BIT;
constexpr const char* kCapability = "in a container, allow it, for instance by CAP_SYS_NICE";
// Docker's own profile allows move_pages with no capability.
constexpr const char* kProfile = "in a container, allow it in the seccomp profile; CAP_SYS_NICE may not be enough";

using Mask = std::array<unsigned long, util::kIdsMax / kWordBits>;

// 0, or an errno. The policy of a thread ends with it.
int set_policy_of_thread(const Mask& mask) {
  int error = 0;
  std::thread([&] {
    if (::syscall(SYS_set_mempolicy, MPOL_BIND, mask.data(), static_cast<unsigned long>(util::kIdsMax)) != 0)
      error = errno;
  }).join();
  return error;
}

}  // namespace

std::vector<std::string> refused_by_kernel(uint32_t node) {
  std::vector<std::string> refused;
  const auto note = [&](const char* call, int error, const char* lacking, const char* remedy = kCapability) {
    if (error != 0)
      refused.push_back(fmt::format("{}: {} is refused ({}); {}", lacking, call, std::strerror(error), remedy));
  };
  const util::Mapping page(::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                           kPageBytes);
  if (!page.valid() || node >= util::kIdsMax) return {"a page to try it with cannot be had"};
  Mask mask{};
  mask[node / kWordBits] = 1ul << (node % kWordBits);
  const long bound = ::syscall(SYS_mbind, page.data(), kPageBytes, MPOL_BIND, mask.data(),
                               static_cast<unsigned long>(util::kIdsMax), 0u);
  note("mbind", bound == 0 ? 0 : errno, "no --place");
  note("set_mempolicy", set_policy_of_thread(mask), "no --mem-node, --preferred and --interleave");
  *page.data() = 1;
  void* at = page.data();
  int where = -1;
  const long asked = ::syscall(SYS_move_pages, 0, 1ul, &at, nullptr, &where, 0);
  note("move_pages", asked == 0 ? 0 : errno, "no sampling of where pages are", kProfile);
  return refused;
}

}  // namespace mlrun::placement
