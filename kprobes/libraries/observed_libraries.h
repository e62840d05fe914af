// SPDX-License-Identifier: Apache-2.0
// The libraries whose calls can be recorded, in the form of probed_library.h and library_watch.h.
#pragma once

#include "kprobes/libraries/probed_library.h"

namespace mlrun::probes {

inline constexpr std::string_view kLibcuda = "libcuda", kLibcufile = "libcufile",
                                  kTorchAllocator = "PyTorch's allocator";

ObservedLibrary libcuda(const LibraryPrograms& programs);
ObservedLibrary libcufile(const LibraryPrograms& programs);
ObservedLibrary torch_allocator(const LibraryPrograms& programs);

}  // namespace mlrun::probes
