// SPDX-License-Identifier: Apache-2.0
// The version of the traced program: the Git commit of the work tree that contains a folder.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::session {

// Keys: root (the work tree), commit (hexadecimal digits), branch (null: detached). null: no work tree, or without a
// commit. Read from Git's files without running git, so uncommitted changes are not detected.
nlohmann::json source_version(const std::string& folder);

}  // namespace mlrun::session
