// SPDX-License-Identifier: Apache-2.0
// A star first matches as little as possible; on a mismatch the last star takes one byte more. An earlier star is never
// retried: the later one has tried all places that a retry could reach. A star does not match a slash, a double star does.
// So only the last one of each kind is kept, and a double star clears the stars before it.
#include "preload/base/glob.h"

// Where to resume on a mismatch.
struct retry {
  const char *pattern;  // behind the star; null: there was none
  const char *at;       // in the path, behind what the star matches
};

// The set after a '['. Moves *pattern behind its ']'.
static bool in_set(const char **pattern, char byte) {
  const char *p = *pattern;
  bool negated = *p == '!', found = false;
  if (negated) p++;
  for (bool first = true; *p && (first || *p != ']'); first = false) {
    if (p[0] == '\\' && p[1]) p++;
    unsigned char low = (unsigned char)*p++, high = low;
    if (p[0] == '-' && p[1] && p[1] != ']') {
      high = (unsigned char)p[1];
      p += 2;
    }
    found |= low <= (unsigned char)byte && (unsigned char)byte <= high;
  }
  *pattern = *p ? p + 1 : p;
  return found != negated && byte != '/';
}

// Whether the next element of the pattern (not a star) matches `byte`; then the pattern advances.
static bool takes(const char **pattern, char byte) {
  char next = *(*pattern)++;
  if (next == '?') return byte != '/';
  if (next == '[') return in_set(pattern, byte);
  if (next == '\\' && **pattern) next = *(*pattern)++;
  return next == byte;
}

bool glob_matches(const char *pattern, const char *path, size_t bytes) {
  const char *at = path, *end = path + bytes;
  struct retry star = {0}, deep = {0};
  bool whole_folders = false;
  for (;;) {
    if (!*pattern && (at == end || *at == '/')) return true;
    if (pattern[0] == '*' && pattern[1] == '*') {
      whole_folders = pattern[2] == '/';
      pattern += whole_folders ? 3 : 2;
      deep = (struct retry){pattern, at};
      star.pattern = NULL;
      continue;
    }
    if (*pattern == '*') {
      star = (struct retry){++pattern, at};
      continue;
    }
    if (*pattern && at < end && takes(&pattern, *at)) {
      at++;
      continue;
    }
    if (star.pattern && star.at < end && *star.at != '/') {
      at = ++star.at;
      pattern = star.pattern;
      continue;
    }
    do {
      if (!deep.pattern || deep.at == end) return false;
      deep.at++;
    } while (whole_folders && deep.at[-1] != '/');
    at = deep.at;
    pattern = deep.pattern;
    star.pattern = NULL;
  }
}
