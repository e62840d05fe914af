// SPDX-License-Identifier: Apache-2.0
#include "runner/util/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "runner/util/secret_addresses.h"
#include "runner/util/secret_names.h"

namespace mlrun::util {

namespace {

constexpr std::string_view kBlanks = " \t\n\r\v\f", kQuotes = "\"'`";
constexpr int kDeepest = 4;  // levels of quoted texts: sh -c 'ssh host "mysql ..."'

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Options whose values are passwords although their names do not say so.
struct Tool {
  std::string_view programs, options;
  bool apart, attached;    // "-p X" is allowed; "-pX" is allowed
  std::string_view after;  // the options count only after this argument; empty: everywhere
};

constexpr std::array<Tool, 14> kTools = {{
    {" mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mariadb mariadb-dump mariadb-admin ", " -p ", false,
     true, ""},
    {" mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat ", " -p ", true, true, ""},
    {" curl ", " -u -U -b --user --proxy-user ", true, true, ""},
    {" wget ", " --user ", true, true, ""},
    {" redis-cli ", " -a ", true, true, ""},
    {" sshpass ", " -p ", true, true, ""},
    {" sqlcmd bcp ", " -P ", true, true, ""},
    {" ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ", " -w ", true, true, ""},
    {" docker podman nerdctl helm skopeo buildah oras ", " -p ", true, true, "login"},
    {" zip unzip ", " -P ", true, true, ""},
    {" 7z 7za 7zr 7zz ", " -p ", false, true, ""},
    {" smbclient rpcclient ", " -U ", true, true, ""},
    {" wandb ", " login ", true, false, ""},
    {" cqlsh cypher-shell beeline influx ", " -p ", true, true, ""},
}};

// Commands in which a name without dashes precedes its value: aws configure set aws_secret_access_key X.
constexpr std::string_view kSetsByName = " aws git npm pip conda poetry gcloud ";

// Values that are not secret: those of flags, and words for "none".
bool is_plain(std::string_view value) {
  constexpr size_t kLongest = 5;
  if (value.size() > kLongest) return false;
  return value.empty() || has_word(" true false yes no none null on off ", lower(value));
}

// "key" without another word is ambiguous; its values are masked only if they look random.
bool is_bare_key(std::string_view name) {
  while (name.starts_with('-')) name.remove_prefix(1);
  return name == "key" || name == "KEY";
}
// The value of --pwd may be a working directory instead of a password.
bool is_bare_pwd(std::string_view name) { return name == "--pwd" || name == "-pwd"; }
bool looks_generated(std::string_view value) {
  constexpr size_t kShortest = 16;
  const auto has = [&](int (*is)(int)) {
    return std::any_of(value.begin(), value.end(), [&](unsigned char c) { return is(c) != 0; });
  };
  const bool letters = std::all_of(value.begin(), value.end(), [](char c) { return is_name_char(c) && c != '.'; });
  return value.size() >= kShortest && letters && has(std::isdigit) && has(std::isalpha);
}

// The name without a switch before it: "-eNAME" and "-DNAME" set NAME.
std::string_view without_switch(std::string_view name) {
  const bool is_switch = name.size() > 2 && name[0] == '-' && (name[1] == 'e' || name[1] == 'D' || name[1] == 'E');
  return is_switch && std::isupper(static_cast<unsigned char>(name[2])) != 0 ? name.substr(2) : name;
}

NamePlace place_of(std::string_view name) {
  const bool has_lower = std::any_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c) != 0; });
  return has_lower || name.starts_with('-') ? NamePlace::kOption : NamePlace::kEnvironment;
}

bool names_secret_here(std::string_view name) {
  name = without_switch(name);
  return names_secret(name, place_of(name)) || is_bare_key(name) || is_bare_pwd(name);
}

bool hides(std::string_view name, std::string_view value) {
  if (is_plain(value)) return false;
  if (is_bare_pwd(name)) return std::string_view("/.~$").find(value.front()) == std::string_view::npos;
  return !is_bare_key(without_switch(name)) || looks_generated(value);
}

// Masks the words of one command, or of one text, in order.
class Masker {
 public:
  explicit Masker(int depth, bool in_text) : depth_(depth), in_text_(in_text) {}

  std::string argument(std::string_view word);
  [[nodiscard]] std::string text(std::string_view text) const;
  [[nodiscard]] std::optional<std::string> settings(std::string_view text) const;

 private:
  struct Span {
    size_t begin = 0, end = 0;
  };
  // The last value found. Values that begin within it end at the same place, so a long word is not searched again and again.
  struct ValueEnd {
    size_t begin = 1, end = 0;
  };

  std::string token(std::string_view word);
  std::optional<std::string> awaited(std::string_view word);
  std::optional<std::string> option_of_tool(std::string_view word);
  bool awaits_value(std::string_view word);
  [[nodiscard]] std::string inside(std::string_view word) const;
  [[nodiscard]] std::string value(std::string_view word) const;
  [[nodiscard]] std::optional<Span> value_at(std::string_view word, size_t separator, ValueEnd& last) const;
  [[nodiscard]] size_t end_of_value(std::string_view word, size_t begin, ValueEnd& last) const;
  void note_program(std::string_view word);

  int depth_;
  bool in_text_;          // the words come from a text: the ends of values are guesses
  std::string awaited_;   // the name whose value comes next; empty: none
  std::string previous_;  // the word before
  const Tool* tool_ = nullptr;
  bool sets_by_name_ = false, is_after_ = false, has_login_ = false;
};

// "Authorization: Bearer X" in one argument: the value extends to the end.
std::optional<std::string> masked_header(std::string_view text) {
  size_t colon = 0;
  while (colon < text.size() && is_name_char(text[colon])) ++colon;
  if (colon == 0 || colon + 1 >= text.size() || text[colon] != ':') return std::nullopt;
  size_t begin = text.find_first_not_of(kBlanks, colon + 1);
  if (begin == kNone || text[begin] == '/' || text[begin] == ':') return std::nullopt;
  if (!names_secret_here(text.substr(0, colon)) || !hides(text.substr(0, colon), text.substr(begin)))
    return std::nullopt;
  const size_t scheme_end = text.find_first_of(kBlanks, begin);
  if (scheme_end != kNone &&
      has_word(" bearer basic token digest apikey ", lower(text.substr(begin, scheme_end - begin)))) {
    begin = scheme_end + 1;
  }
  return std::string(text.substr(0, begin)) + std::string(kMasked);
}

// "NAME=value", "--name=value", "--env=NAME=value" in one argument: the value extends to the end.
std::optional<std::string> masked_assignment(std::string_view text) {
  for (size_t begin = 0, at = 0; at < text.size(); ++at) {
    if (is_name_char(text[at])) continue;
    if (text[at] != '=' || at == begin) return std::nullopt;
    if (names_secret_here(text.substr(begin, at - begin)) &&
        hides(text.substr(begin, at - begin), text.substr(at + 1))) {
      return std::string(text.substr(0, at + 1)) + std::string(kMasked);
    }
    begin = at + 1;
  }
  return std::nullopt;
}

void Masker::note_program(std::string_view word) {
  if (word.starts_with('-')) return;
  const std::string_view name = word.substr(word.rfind('/') + 1);
  for (const Tool& tool : kTools) {
    if (has_word(tool.programs, name)) tool_ = &tool;
  }
  sets_by_name_ = sets_by_name_ || has_word(kSetsByName, name);
  is_after_ = is_after_ || (tool_ != nullptr && word == tool_->after);
}

std::optional<std::string> Masker::option_of_tool(std::string_view word) {
  if (tool_ == nullptr || word.empty() || (!tool_->after.empty() && !is_after_)) return std::nullopt;
  const bool is_long = word.starts_with("--");
  const bool is_short = word[0] == '-' && !is_long;
  const std::string_view option = is_short ? word.substr(0, 2) : word.substr(0, word.find('='));
  if (is_short && tool_->apart && has_word(tool_->options, std::string("-") + word.back()) &&
      std::all_of(word.begin() + 1, word.end(), [](unsigned char c) { return std::isalpha(c) != 0; }) &&
      !has_word(tool_->options, option)) {
    awaited_ = "password";  // several options in one word, as -sSu
    return std::string(word);
  }
  if (!has_word(tool_->options, option)) return std::nullopt;
  if (option.size() == word.size()) {
    if (tool_->apart) awaited_ = "password";
    return std::string(word);
  }
  if (!tool_->attached) return std::nullopt;
  return std::string(option) + (is_long ? "=" : "") + std::string(kMasked);
}

// The name at the end of the text, without the quotes behind it.
std::string_view name_at_end(std::string_view text) {
  text = text.substr(0, text.find_last_not_of("\"'\\") + 1);
  size_t begin = text.size();
  while (begin > 0 && is_name_char(text[begin - 1])) --begin;
  return text.substr(begin);
}

// Is the value of this word the next word? As after "--password", and in a text after "Authorization:" or "password =".
bool Masker::awaits_value(std::string_view word) {
  std::string_view name = word;
  if (in_text_ && (word == "=" || word == ":")) name = previous_;
  const bool has_separator = in_text_ && name.size() > 1 && (name.back() == ':' || name.back() == '=');
  if (has_separator) {
    name.remove_suffix(1);
    name = name_at_end(name);
  }
  const bool is_whole = std::all_of(name.begin(), name.end(), is_name_char);
  has_login_ = has_login_ || name == "login";
  const bool is_bearer = lower(name) == "bearer";
  const bool is_option = word.starts_with('-') || has_separator || name.data() != word.data() || is_bearer ||
                         (sets_by_name_ && name.find_first_of("._-") != kNone) ||
                         (in_text_ && has_login_ && name == "password");  // in a netrc file
  if (!is_whole || !is_option || !names_secret_here(name)) return false;
  constexpr std::string_view kFlags[] = {"--no-", "--disable-", "--skip-", "--without-", "--ask-", "--no_"};
  if (std::any_of(std::begin(kFlags), std::end(kFlags), [&](auto flag) { return word.starts_with(flag); }))
    return false;
  awaited_ = name;
  return true;
}

// Masks a value. In a text the value may be quoted, with more text after the quotes: `"a b",`.
std::string Masker::value(std::string_view word) const {
  if (!in_text_) return std::string(kMasked);
  const std::string_view quote = word.substr(0, word.find_first_not_of("\"'`\\"));
  if (!quote.empty()) {
    const size_t end = std::min(word.find(quote, quote.size()), word.size());
    return std::string(quote) + std::string(kMasked) + inside(word.substr(end));
  }
  const size_t end = word.find_last_not_of(",;)}]") + 1;
  return std::string(kMasked) + std::string(word.substr(end));
}

std::optional<std::string> Masker::awaited(std::string_view word) {
  if (awaited_.empty()) return std::nullopt;
  if (has_word(" bearer basic token digest apikey ", lower(word)))
    return std::string(word);  // "Authorization:" "Bearer" X
  const std::string name = std::exchange(awaited_, {});
  // A secret may begin with one '-' (base64url); a word with two is the next option.
  if (word.starts_with("--") || !hides(name, word)) return std::nullopt;
  return value(word);
}

std::string Masker::argument(std::string_view word) {
  const bool is_script =
      !in_text_ && previous_.starts_with('-') && !previous_.starts_with("--") && previous_.ends_with('c');
  if (auto masked = awaited(word)) return *masked;
  note_program(word);
  std::optional<std::string> masked = option_of_tool(word);
  if (!masked && awaits_value(word)) masked = std::string(word);
  previous_ = word;
  if (!masked && !is_script && !in_text_) masked = masked_assignment(word);
  if (!masked && !is_script && !in_text_) masked = masked_header(word);
  if (!masked && !is_script) masked = settings(word);
  if (masked) return *masked;
  return word.find_first_of(kBlanks) == kNone ? inside(word) : text(word);
}

// Masks connection strings, such as "Server=h;User ID=u;Password=a b;": values end only at semicolons. nullopt: not one.
std::optional<std::string> Masker::settings(std::string_view text) const {
  std::string shown;
  size_t count = 0;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(';'));
    const size_t equals = part.find('=');
    const size_t begin = std::min(part.find_first_not_of(kBlanks), part.size());
    const bool is_setting =
        equals != kNone && equals > begin &&
        std::all_of(part.begin() + static_cast<long>(begin), part.begin() + static_cast<long>(equals),
                    [](char c) { return is_name_char(c) || c == ' '; });
    if (!is_setting && begin != part.size()) return std::nullopt;
    if (is_setting) {
      ++count;
      const std::string_view name = part.substr(begin, equals - begin), value = part.substr(equals + 1);
      const bool is_secret = names_secret_here(name) || lower(name) == "pwd";
      shown += part.substr(0, equals + 1);
      shown += is_secret && hides(name, value) ? std::string(kMasked) : this->text(value);
    }
    if (part.size() < text.size()) shown += ';';
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  if (count < 2) return std::nullopt;
  return shown;
}

// Masks a word of a text. A quoted word is treated as a whole argument of a command.
std::string Masker::token(std::string_view word) {
  const bool ends_command = word.find_first_not_of(";|&") == kNone || word.ends_with(';');
  const bool is_quoted = word.size() >= 2 && word.front() == word.back() && kQuotes.find(word.front()) != kNone &&
                         word.find(word.front(), 1) == word.size() - 1;
  std::string shown;
  if (is_quoted) {
    in_text_ = false;
    shown = word.front() + argument(word.substr(1, word.size() - 2)) + word.back();
    in_text_ = true;
  } else {
    shown = argument(word);
  }
  if (ends_command) {
    tool_ = nullptr;
    sets_by_name_ = is_after_ = false;
  }
  return shown;
}

// Masks each word of a text. Words end at blanks outside of quotes; an unclosed quote is ignored.
std::string Masker::text(std::string_view text) const {
  if (depth_ >= kDeepest) return inside(text);
  Masker inner(depth_ + 1, true);
  std::string shown;
  size_t at = 0;
  while (at < text.size()) {
    const size_t begin = std::min(text.find_first_not_of(kBlanks, at), text.size());
    shown += text.substr(at, begin - at);
    for (at = begin; at < text.size() && kBlanks.find(text[at]) == kNone; ++at) {
      if (kQuotes.find(text[at]) == kNone) continue;
      const size_t close = text.find(text[at], at + 1);
      if (close != kNone) at = close;
    }
    if (at > begin) shown += inner.token(text.substr(begin, at - begin));
  }
  return shown;
}

// Does an unquoted value end at `at`? It ends at a blank, at a quote, or where the next name begins.
bool ends_value(std::string_view word, size_t at) {
  const char c = word[at];
  if (kBlanks.find(c) != kNone || kQuotes.find(c) != kNone) return true;
  if (c != '&' && c != ';' && c != ',') return false;
  size_t next = at + 1;
  while (next < word.size() && is_name_char(word[next])) ++next;
  if (next == word.size()) return next == at + 1;
  return (next > at + 1 && (word[next] == '=' || word[next] == ':')) || kQuotes.find(word[next]) != kNone;
}

size_t Masker::end_of_value(std::string_view word, size_t begin, ValueEnd& last) const {
  if (begin < last.begin || begin > last.end) {
    last = {begin, begin};
    while (last.end < word.size() && !ends_value(word, last.end)) ++last.end;
    if (last.end == word.size() && in_text_) last.end = std::max(begin, word.find_last_not_of(")}]") + 1);
  }
  return last.end;
}

// The value after the '=' or ':' at `separator`, if the name before it is the name of a secret.
std::optional<Masker::Span> Masker::value_at(std::string_view word, size_t separator, ValueEnd& last) const {
  const std::string_view name = name_at_end(word.substr(0, separator));
  const auto begin = static_cast<size_t>(name.data() - word.data());
  const bool is_quoted = begin + name.size() < separator;
  const char before = begin > 0 ? word[begin - 1] : '\0';
  const bool is_query = before == '?' || before == '&';
  const bool is_signature = is_query && (name == "sig" || lower(name).ends_with("signature"));
  const bool is_pwd = lower(name) == "pwd" && (before == ';' || name == "Pwd");  // as in a connection string
  if (name.empty() || !(is_signature || is_pwd || names_secret_here(name))) return std::nullopt;
  size_t from = word.find_first_not_of(kBlanks, separator + 1);
  if (from == kNone) return std::nullopt;
  if (word[separator] == ':' && (word[from] == '/' || word[from] == ':')) return std::nullopt;
  if (!is_quoted && word[from] == before && kQuotes.find(before) != kNone)
    return std::nullopt;  // a quoted "name:" has no value
  const size_t opened = from;
  while (from < word.size() && (kQuotes.find(word[from]) != kNone || word[from] == '\\')) ++from;
  const std::string_view quote = word.substr(opened, from - opened);
  const size_t end = quote.empty() ? end_of_value(word, from, last) : std::min(word.find(quote, from), word.size());
  if (end <= from || !hides(name, word.substr(from, end - from))) return std::nullopt;
  return Span{from, end};
}

std::string Masker::inside(std::string_view whole) const {
  const std::string word = without_users(whole);
  std::string shown;
  size_t done = 0;
  ValueEnd last;
  for (size_t at = word.find_first_of("=:"); at != std::string::npos; at = word.find_first_of("=:", at)) {
    const auto span = value_at(word, at, last);
    if (span) {
      shown += word.substr(done, span->begin - done);
      shown += kMasked;
      done = span->end;
    }
    at = span ? span->end : at + 1;
  }
  return shown + word.substr(done);
}

}  // namespace

std::string masked_text(std::string_view text) {
  if (auto masked = masked_header(text)) return *masked;
  const Masker masker(0, true);
  if (auto masked = masker.settings(text)) return *masked;
  return masker.text(text);
}

std::string masked_value(std::string_view name, std::string_view value) {
  const bool is_secret = names_secret(name, NamePlace::kEnvironment) || is_bare_key(name);
  return is_secret && hides(name, value) ? std::string(kMasked) : masked_text(value);
}

std::vector<std::string> masked_arguments(const std::vector<std::string>& arguments) {
  Masker masker(0, false);
  std::vector<std::string> shown;
  shown.reserve(arguments.size());
  for (const std::string& argument : arguments) shown.push_back(masker.argument(argument));
  return shown;
}

std::string masked_command_line(std::string_view arguments) {
  while (arguments.ends_with('\0')) arguments.remove_suffix(1);
  Masker masker(0, false);
  std::string shown;
  for (;;) {
    const size_t end = std::min(arguments.find('\0'), arguments.size());
    shown += masker.argument(arguments.substr(0, end));
    if (end == arguments.size()) return shown;
    shown += ' ';
    arguments.remove_prefix(end + 1);
  }
}

}  // namespace mlrun::util
