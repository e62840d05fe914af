// SPDX-License-Identifier: Apache-2.0
// Asks a server on this machine by HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "runner/util/result.h"

namespace mlrun::machine {

// The body of an answer with status 200. Fails with one line about the server, at the latest after `patience`: also where the server accepts no
// connection, as a stopped one does.
Result<std::string> get_local(uint16_t port, std::string_view path, std::chrono::milliseconds patience);

}  // namespace mlrun::machine
