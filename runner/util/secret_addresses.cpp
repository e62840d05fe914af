// SPDX-License-Identifier: Apache-2.0
#include "runner/util/secret_addresses.h"

#include <algorithm>
#include <cctype>

namespace mlrun::util {

namespace {

constexpr std::string_view kScheme = "://";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_host_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
}
bool is_user_char(char c) { return is_host_char(c) || c == '%' || c == '+'; }

std::string_view host_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_host_char(text[end])) ++end;
  return text.substr(at, end - at);
}

// True for "host:8080", "host", "[::1]". False: it can only be the beginning of "user:password".
bool may_be_host(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  if (authority.empty() || colon == kNone || authority.starts_with('[')) return true;
  return std::all_of(authority.begin() + static_cast<long>(colon) + 1, authority.end(), is_digit);
}

// Offset of the '@' that ends user and password; kNone: none. By the URL syntax it precedes the first slash. A password
// with an unescaped slash is recognised if the text before the slash cannot be a host, or if it has a password and
// a short host (without '.', ':' or '[', not localhost) and another '@' follows the slash.
size_t end_of_user(std::string_view text, size_t begin, size_t end) {
  // Only up to `end`: a text may have many addresses, and must not be searched to its end for each.
  const std::string_view rest = text.substr(begin, end - begin);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const size_t slash = begin + authority.size();
  size_t last = rest.rfind('@');
  if (last == kNone) return kNone;
  last += begin;
  const size_t at = authority.rfind('@');
  if (at == kNone) return may_be_host(authority) ? kNone : last;
  const bool has_password = authority.find(':') < at;
  const std::string_view host = authority.substr(at + 1);
  const bool is_short = host.find_first_of(".:[") == kNone && host != "localhost";
  return has_password && is_short && last > slash ? last : begin + at;
}

// Does the scheme end in ssh or sftp? Its users (git@) are not secret.
bool is_login(std::string_view before) { return before.ends_with("ssh") || before.ends_with("sftp"); }

bool is_version(std::string_view host) {
  const auto points = std::count(host.begin(), host.end(), '.');
  const bool numbers = std::all_of(host.begin(), host.end(), [](char c) { return is_digit(c) || c == '.'; });
  return numbers && points != 3;  // three points: an IPv4 address
}

// Where "user:" is that may precede a password.
struct BareUser {
  size_t begin = 0, colon = kNone;
  bool is_user = false;
};

// The first "user:" after `from`.
BareUser find_user(std::string_view text, size_t from) {
  constexpr std::string_view kEdges = " \t\n,;'\"`=([{<";
  BareUser found;
  found.colon = text.find(':', from);
  if (found.colon == kNone) return found;
  const std::string_view before = text.substr(from, found.colon - from);
  const size_t edge = before.find_last_of(kEdges);
  found.begin = from + (edge == kNone ? 0 : edge + 1);
  const std::string_view user = text.substr(found.begin, found.colon - found.begin);
  const bool names_package = user == "npm" || user == "workspace" || user == "jsr" || user == "mailto";
  found.is_user = !user.empty() && !names_package && std::all_of(user.begin(), user.end(), is_user_char);
  return found;
}

// Masks "user:password@host" in a text without "://". Reads each part of the text once, so its time is linear.
std::string without_bare_users(std::string_view text) {
  std::string shown;
  size_t done = 0;
  BareUser user = find_user(text, 0);
  for (size_t at = text.find('@'); at != kNone; at = text.find('@', at + 1)) {
    if (user.colon == kNone) break;
    if (user.colon > at) continue;
    const size_t next_edge = std::min(text.find_first_of(" \t\n,'\"`", at), text.size());
    const size_t last = at + text.substr(at, next_edge - at).rfind('@');
    const std::string_view password = text.substr(user.colon + 1, last - user.colon - 1);
    const std::string_view host = host_at(text, last + 1);
    at = last;
    if (!user.is_user || password.empty() || password[0] == '/') continue;
    if (host.empty() || is_version(host) || host.starts_with("sha")) continue;
    shown += text.substr(done, user.begin - done);
    shown += "***:***";
    done = last;
    user = find_user(text, done);
  }
  shown += text.substr(done);
  return shown;
}

}  // namespace

std::string without_users(std::string_view word) {
  std::string shown;
  size_t done = 0;
  for (size_t scheme = word.find(kScheme); scheme != kNone; scheme = word.find(kScheme, scheme + kScheme.size())) {
    const size_t begin = scheme + kScheme.size();
    const size_t next = std::min(word.find(kScheme, begin), word.size());
    const size_t end = std::min(word.substr(0, next).find_first_of(" \t\n\"'`<>\\", begin), next);
    const size_t at = end_of_user(word, begin, end);
    const bool has_colon = at != kNone && word.substr(begin, at - begin).find(':') != kNone;
    if (at == kNone || at == begin || (!has_colon && is_login(word.substr(0, scheme)))) continue;
    shown += done == 0 ? without_bare_users(word.substr(0, scheme)) : std::string(word.substr(done, scheme - done));
    shown += kScheme;
    shown += has_colon ? "***:***" : "***";
    done = at;
  }
  return shown + (done == 0 && word.find(kScheme) == kNone ? without_bare_users(word) : std::string(word.substr(done)));
}

}  // namespace mlrun::util
