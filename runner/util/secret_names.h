// SPDX-License-Identifier: Apache-2.0
// Which names of variables, options and keys stand before a secret. Names are taken apart into words at every character
// that is neither a letter nor a digit and where lower case meets upper case: DB_PASSWORD, db.password and dbPassword are
// the same.
#pragma once

#include <string_view>

namespace mlrun::util {

// Where a name stands. Environment variables are credentials more often than options of the same name: of an option that
// ends in "key" most mean a column of a table.
enum class NamePlace { kEnvironment, kOption };

// PASSWORD, PASSWD, PASS, PASSPHRASE, PWD behind another word, TOKEN, SECRET, KEY of a credential, PAT, CREDENTIAL, AUTH,
// COOKIE, DSN, CONNECTION_STRING, WEBHOOK and their like; not what says something about such a value (PASSWORD_FILE,
// KEY_SIZE, max_tokens, pad_token_id).
[[nodiscard]] bool names_secret(std::string_view name, NamePlace place);

}  // namespace mlrun::util
