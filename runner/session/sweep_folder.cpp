// SPDX-License-Identifier: Apache-2.0
#include "runner/session/sweep_folder.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace mlrun::session {

bool is_sweep(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(std::filesystem::path(folder) / kSweepDatabase, ignored);
}

tl::unexpected<Error> no_sweep(const std::string& folder) {
  return fail(fmt::format("{} holds no sweep (it has no {}); mlrun list DIR shows the sweeps in a folder", folder,
                          kSweepDatabase));
}

}  // namespace mlrun::session
