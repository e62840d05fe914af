// SPDX-License-Identifier: Apache-2.0
#include "kprobes/ability.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <string_view>

#include <fmt/format.h>

#include "kprobes/attach/privilege.h"
#include "runner/util/file_io.h"
#include "runner/util/number.h"

namespace mlrun::probes {

namespace {

// Linux 5.14 renamed task_struct.state to __state, which the BPF programs read. Features that came later or were
// backported are checked one by one: cookies of kprobes (5.15), folios (5.16), bpf_loop (5.17), the state in
// sched_switch (5.18).
constexpr int kOldestMajor = 5, kOldestMinor = 14;

Status check_kernel() {
  utsname names{};
  ::uname(&names);
  const std::string_view release = names.release;
  const int major = util::leading_number<int>(release);
  const int minor = util::leading_number<int>(release.substr(release.find('.') + 1));
  const bool is_known = major > 0 && release.find('.') != std::string_view::npos;
  if (!is_known || major > kOldestMajor || (major == kOldestMajor && minor >= kOldestMinor)) return {};
  return fail(fmt::format("Linux {} is too old for mlrun-probes, which needs {}.{} or later", names.release,
                          kOldestMajor, kOldestMinor));
}

Status check_types() {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) == 0) return {};
  return fail("this kernel has no BTF types: /sys/kernel/btf/vmlinux is missing (build it with CONFIG_DEBUG_INFO_BTF)");
}

Status check_lockdown() {
  const std::string lockdown = util::read_text("/sys/kernel/security/lockdown");
  if (lockdown.find("[confidentiality]") == std::string::npos) return {};
  return fail(
      "the kernel is locked down (confidentiality), so BPF programs may not read its memory; boot with "
      "lockdown=integrity");
}

}  // namespace

Status check_ability() {
  for (const auto check : {check_privilege, check_kernel, check_types, check_lockdown}) {
    if (Status passed = check(); !passed) return passed;
  }
  return {};
}

}  // namespace mlrun::probes
