// SPDX-License-Identifier: Apache-2.0
// Which version of the program was traced: the Git commit of the work tree that a folder lies in.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::launch {

// Keys: root (the work tree), commit (hexadecimal digits), branch (null: detached). null: no work tree, or without a commit.
// Read from Git's files, without running git, so that whether files were changed since is not told.
nlohmann::json source_version(const std::string& folder);

}  // namespace mlrun::launch
