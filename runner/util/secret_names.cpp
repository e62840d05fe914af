// SPDX-License-Identifier: Apache-2.0
#include "runner/util/secret_names.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace mlrun::util {

namespace {

using Words = std::vector<std::string>;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter_or_digit(char c) { return is_upper(c) || is_lower(c) || (c >= '0' && c <= '9'); }

// Does an upper-case letter at `at`, within letters and digits, begin a word? T in "accessToken", K in "APIKey".
bool begins_word(std::string_view name, size_t at) {
  if (!is_upper(name[at])) return false;
  if (!is_upper(name[at - 1])) return true;
  return at + 1 < name.size() && is_lower(name[at + 1]);
}

Words words_of(std::string_view name) {
  Words words;
  bool inside = false;
  for (size_t at = 0; at < name.size(); ++at) {
    const bool belongs = is_letter_or_digit(name[at]);
    if (belongs && (!inside || begins_word(name, at))) words.emplace_back();
    if (belongs) words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[at])));
    inside = belongs;
  }
  return words;
}

// If the last word of a name is one of these, the value describes or locates a secret but is not one.
constexpr std::string_view kAbout =
    " file filename files path paths dir directory folder sock socket size length len bits type types kind mode method "
    "scheme"
    " algorithm algo provider backend name names count num limit max min timeout ttl expiry lifetime age rotation "
    "policy"
    " stdin prompt enabled disabled required url uri endpoint host hosts port realm format encoding version command cmd"
    " helper class module store plugin location env var variable index column columns field fields level dropout"
    " parallelism askpass ids ";
// Before or after one of these words, "token" means a language model's token.
constexpr std::string_view kBeforeTextToken =
    " pad padding eos bos unk unknown mask sep cls special stop max min num n per image video audio text start end "
    "next first"
    " last prompt batch mean avg total sub word decoder encoder forced ";
constexpr std::string_view kBehindTextToken =
    " id ids type types count counts level length len limit size dropout embedding embeddings classification per shift"
    " drop merging budget rate dim mask usage loss pad ";
// After one of these words, "key" means a credential.
constexpr std::string_view kBeforeKey =
    " api access secret private auth account encryption encrypt signing sign master license storage ssh rsa gpg pgp "
    "deploy"
    " service shared app application admin root session webhook client consumer subscription sas aws azure gcp openai"
    " wandb hf huggingface comet neptune mlflow dd datadog anthropic gemini google stripe sendgrid token jwt hmac aes"
    " fernet ";
// After one of these words, "key" of an environment variable is not a credential.
constexpr std::string_view kBeforePublicKey =
    " public pub primary foreign sort cache partition hot compose group row column index map modifier ";
// After one of these words, "pass" and "passes" mean a pass over data.
constexpr std::string_view kBeforePass =
    " one two single multi first second last num n max by forward backward render low high band all ";
constexpr std::string_view kBeforePat = " github gitlab gh git azure ado devops ext bitbucket personal ";
// A single word with one of these ends, such as "myapikey", is a credential.
constexpr std::string_view kJoinedKeys[] = {"apikey",     "accesskey",  "secretkey",     "privatekey",
                                            "authkey",    "accountkey", "encryptionkey", "masterkey",
                                            "signingkey", "sharedkey",  "licensekey",    "storagekey"};
constexpr std::string_view kSecretEnds[] = {"password", "passwd",     "passphrase",  "passcode", "passwort",
                                            "secret",   "credential", "credentials", "creds",    "authorization",
                                            "cookie",   "cookies",    "dsn",         "webhook"};
constexpr std::string_view kNotPass[] = {"bypass",   "compass",  "trespass", "surpass",   "encompass", "lowpass",
                                         "highpass", "bandpass", "allpass",  "multipass", "onepass",   "twopass"};

bool ends_as_any(std::string_view word, const auto& ends) {
  return std::any_of(std::begin(ends), std::end(ends), [&](std::string_view end) { return word.ends_with(end); });
}

// One word of the name with its neighbours.
struct Spot {
  std::string_view before, word, behind;
  bool is_last;
  NamePlace place;
};

bool is_password(const Spot& spot) {
  if (spot.word.starts_with("passw") || spot.word == "pw" || spot.word == "psw") return true;
  if (spot.word == "pwd") return !spot.before.empty() && spot.before != "old";
  if (spot.word.ends_with("pwd")) return spot.word != "oldpwd";
  if (!spot.word.ends_with("pass") || !spot.is_last || ends_as_any(spot.word, kNotPass)) return false;
  return spot.word != "pass" || !has_word(kBeforePass, spot.before);
}

bool is_token(const Spot& spot) {
  if (spot.word == "tokens") return has_word(" api access auth bearer refresh secret ", spot.before);
  if (!spot.word.ends_with("token") || spot.word == "subtoken" || spot.word == "detoken") return false;
  return !has_word(kBeforeTextToken, spot.before) && !has_word(kBehindTextToken, spot.behind);
}

bool is_key(const Spot& spot) {
  if (ends_as_any(spot.word, kJoinedKeys)) return true;
  if (spot.word == "apikeys") return true;
  if (spot.word != "key" && spot.word != "keys") return false;
  if (has_word(kBeforeKey, spot.before)) return true;
  const bool is_variable = spot.place == NamePlace::kEnvironment && spot.word == "key" && spot.is_last;
  return is_variable && !spot.before.empty() && !has_word(kBeforePublicKey, spot.before);
}

bool is_auth(const Spot& spot) {
  if (spot.word != "auth" && spot.word != "oauth") return false;
  return spot.is_last || has_word(" basic header string data value code bearer config ", spot.behind);
}

bool is_connection(const Spot& spot) {
  if (spot.word == "connectionstring" || spot.word == "connstr" || spot.word == "connstring") return true;
  return has_word(" connection conn ", spot.before) && has_word(" string str ", spot.word);
}

bool is_access_token(const Spot& spot) {  // a "personal access token"
  if (spot.word != "pat" || !spot.is_last) return false;
  return spot.place == NamePlace::kEnvironment || spot.before.empty() || has_word(kBeforePat, spot.before);
}

bool is_secret(const Spot& spot) {
  if (ends_as_any(spot.word, kSecretEnds) || spot.word == "secrets") return true;
  if (spot.word == "jwt" || spot.word == "bearer") return spot.is_last;
  return is_password(spot) || is_token(spot) || is_key(spot) || is_auth(spot) || is_connection(spot) ||
         is_access_token(spot);
}

}  // namespace

bool has_word(std::string_view list, std::string_view word) {
  if (word.empty() || word.find(' ') != std::string_view::npos) return false;  // `list` begins and ends with a blank
  for (size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    if (list[at - 1] == ' ' && list[at + word.size()] == ' ') return true;
  }
  return false;
}

bool names_secret(std::string_view name, NamePlace place) {
  constexpr size_t kLongestName = 256;  // longer ones are text, not names
  if (name.size() > kLongestName) return false;
  const Words words = words_of(name);
  if (words.empty()) return false;
  const bool is_webhook = std::find(words.begin(), words.end(), "webhook") != words.end();  // its URL is the secret
  if (has_word(kAbout, words.back())) return is_webhook && (words.back() == "url" || words.back() == "uri");
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view before = i == 0 ? std::string_view() : words[i - 1];
    const bool is_last = i + 1 == words.size();
    const std::string_view behind = is_last ? std::string_view() : words[i + 1];
    if (is_secret({before, words[i], behind, is_last, place})) return true;
  }
  return false;
}

}  // namespace mlrun::util
