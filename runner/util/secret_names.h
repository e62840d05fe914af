// SPDX-License-Identifier: Apache-2.0
// Which names of variables, options and keys have secret values. Names are split into words at every character that is
// neither a letter nor a digit and between lower and upper case: DB_PASSWORD, db.password and dbPassword are the same.
#pragma once

#include <string_view>

namespace mlrun::util {

// Where a name is used. An environment variable is a credential more often than an option of the same name: most options
// that end in "key" mean a table column.
enum class NamePlace { kEnvironment, kOption };

// True for names with PASSWORD, PASSWD, PASS, PASSPHRASE, PWD after another word, TOKEN, SECRET, KEY of a credential, PAT,
// CREDENTIAL, AUTH, COOKIE, DSN, CONNECTION_STRING, WEBHOOK and similar. False for names that only describe such a value
// or mean something else (PASSWORD_FILE, KEY_SIZE, max_tokens, pad_token_id).
[[nodiscard]] bool names_secret(std::string_view name, NamePlace place);

// `list`: words, each with a blank before and after it.
[[nodiscard]] bool has_word(std::string_view list, std::string_view word);

}  // namespace mlrun::util
