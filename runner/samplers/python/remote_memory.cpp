// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/remote_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace mlrun::python {

bool RemoteMemory::read(uint64_t address, void* to, size_t bytes) {
  const RemotePiece piece{address, to, bytes};
  return read(std::span(&piece, 1));
}

bool RemoteMemory::read(std::span<const RemotePiece> pieces) {
  constexpr size_t kAtOnce = 64;
  std::array<iovec, kAtOnce> here, there;
  while (!pieces.empty()) {
    const size_t count = std::min(kAtOnce, pieces.size());
    size_t wanted = 0;
    for (size_t i = 0; i < count; ++i) {
      here[i] = {pieces[i].to, pieces[i].bytes};
      void* const address = reinterpret_cast<void*>(pieces[i].address);  // NOLINT(performance-no-int-to-ptr): not ours
      there[i] = {address, pieces[i].bytes};
      wanted += pieces[i].bytes;
    }
    const ssize_t got = ::process_vm_readv(pid_, here.data(), count, there.data(), count, 0);
    if (got != static_cast<ssize_t>(wanted)) {
      error_ = got < 0 ? errno : EFAULT;
      return false;
    }
    pieces = pieces.subspan(count);
  }
  return true;
}

}  // namespace mlrun::python
