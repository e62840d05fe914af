// SPDX-License-Identifier: Apache-2.0
#include "kprobes/followed_libraries.h"

#include "kprobes/bpf/shared.h"
#include "runner/events/cuda_calls.h"
#include "runner/events/cufile_calls.h"

namespace mlrun::probes {

namespace {

uint32_t cookie_of(uint16_t number, uint32_t reads) { return number | reads << MLRUN_LIBRARY_READS_SHIFT; }

}  // namespace

FollowedLibrary libcuda(const LibraryPrograms& programs) {
  FollowedLibrary library{kLibcuda, {}, programs};
  for (const events::CudaCall& call : events::kCudaCalls) {
    library.calls.push_back(
        {call.number, call.name, cookie_of(call.number, call.reads), events::may_be_let_go(call.role)});
  }
  return library;
}

// Each moves bytes of a file, beside which two breakpoints take little: none is let go.
FollowedLibrary libcufile(const LibraryPrograms& programs) {
  FollowedLibrary library{kLibcufile, {}, programs};
  for (const events::CufileCall& call : events::kCufileCalls) {
    library.calls.push_back({call.number, call.name, cookie_of(call.number, call.reads), false});
  }
  return library;
}

}  // namespace mlrun::probes
