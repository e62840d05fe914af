// SPDX-License-Identifier: Apache-2.0
// User and password in addresses: "scheme://user:password@host/path" and "user:password@host".
#pragma once

#include <string>
#include <string_view>

namespace mlrun::util {

inline constexpr auto kNone = std::string_view::npos;

// `word` (without blanks) with *** in place of users and passwords. In "scheme://user@host" the user is masked too, since
// it may be a token, except if the scheme ends in ssh or sftp. "name@host", "image:tag@sha256:..." and
// "npm:package@1.2" are not changed.
[[nodiscard]] std::string without_users(std::string_view word);

}  // namespace mlrun::util
