// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/owner_mark.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "runner/collect/shared_word.h"

namespace mlrun::collect {

OwnerMark::OwnerMark(uint32_t* word) : word_(word) {
  size_t bytes = 0;
  syscall(SYS_get_robust_list, 0, &previous_, &bytes);
  store(*word_, static_cast<uint32_t>(syscall(SYS_gettid)));
  head_.list.next = &head_.list;
  head_.futex_offset = 0;
  head_.list_op_pending = reinterpret_cast<robust_list*>(word_);
  syscall(SYS_set_robust_list, &head_, sizeof head_);
}

OwnerMark::~OwnerMark() {
  syscall(SYS_set_robust_list, previous_, sizeof head_);
  store(*word_, 0u);
}

}  // namespace mlrun::collect
