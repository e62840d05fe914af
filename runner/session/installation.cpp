// SPDX-License-Identifier: Apache-2.0
#include "runner/session/installation.h"

#include <unistd.h>

#include <filesystem>

#include "runner/events/session.h"

namespace mlrun::session {

Installation find_installation() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto folder = program.parent_path();
  return {(folder / "mlrun-trace").string(),
          (folder.parent_path() / "lib" / MLRUN_PRELOAD_LIBRARY).string(),
          (folder / "mlrun-bench-loops").string(),
          (folder / "mlrun-probes").string(),
          (folder.parent_path() / "lib" / MLRUN_CUPTI_LIBRARY).string(),
          (folder / "mlrun-exchange").string(),
          (folder / "mlrun-sweep").string(),
          (folder / "mlrun-supervisor").string(),
          (folder / "mlrun").string(),
          (folder.parent_path() / "lib" / "python").string(),
          (folder.parent_path() / "lib" / MLRUN_PLACEMENT_LIBRARY).string(),
          (folder / "python3").string()};
}

Status check_preload_library(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) {
    const auto prefix = std::filesystem::path(path).parent_path().parent_path();
    const bool is_target =
        ::access((prefix / "mlrun_trace").c_str(), F_OK) == 0;  // pip puts the package there by --target alone
    return fail("the library " + path + " is missing; " +
                (is_target ? "pip install --target leaves it out: install mlrun in a virtual environment"
                           : "install or build mlrun again"));
  }
  if (path.find_first_of(" :\t\n") != std::string::npos) {
    return fail("the library " + path +
                " has a blank or a colon in its path, which LD_PRELOAD cannot hold; move mlrun elsewhere");
  }
  return {};
}

}  // namespace mlrun::session
