// SPDX-License-Identifier: Apache-2.0
// Dropped records of a thread, by reason and kind: the payload of a drops frame.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runner/events/spool.h"

namespace mlrun::util {

using DropCounts = std::array<std::array<uint64_t, MLRUN_DROPPED_KINDS>, MLRUN_DROP_REASONS>;

uint64_t drops_of(const DropCounts& counts, size_t reason);
uint64_t all_drops(const DropCounts& counts);

// The name of a kind in tables: "file call".
const char* name_of(mlrun_dropped kind);

// The payload: struct mlrun_frame_drops and its entries.
std::string drops_payload(uint64_t monotonic_ns, const DropCounts& counts);

// The counts of a payload. Ignores entries of unknown reasons or kinds, and incomplete ones.
DropCounts read_drops(const char* payload, size_t bytes);

}  // namespace mlrun::util
