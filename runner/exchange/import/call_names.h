// SPDX-License-Identifier: Apache-2.0
// Functions and system calls by the names that other tools print.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mlrun::exchange {

// The number in hooks.def of a function or system call; variants count as the plain one ("pread64", "__fxstat", "newfstatat").
// Nothing: mlrun does not record this function, so its calls become no rows of `call`.
[[nodiscard]] std::optional<uint16_t> func_number(std::string_view name);

}  // namespace mlrun::exchange
